// 45 pairs that hold and 14 that do not, by the prover; every axiom can be used.
#include <gtest/gtest.h>

#include <set>

#include "core/base/file.h"
#include "core/rulegen/prove/prove.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {
namespace {

const AxiomSet& axioms() {
  static const auto set = AxiomSet::load("configs/rules/axioms.rules");
  return *set;
}
std::vector<rules::RuleText> pairs(const std::string& which) {
  const std::string file = "tests/data/rules/pairs-" + which + ".rules";
  return rules::parse_rules(read_file(file), file);
}
// The derivation alone: what it states must be right without the last gate.
ProveOptions derivation() {
  ProveOptions options;
  options.check = false;
  return options;
}

TEST(Pairs, TrueOnesAreDerived) {
  const auto all = pairs("true");
  EXPECT_EQ(all.size(), 45u);
  for (const auto& rule : all) {
    const auto proof = prove(rule, axioms(), derivation());
    EXPECT_EQ(proof.reason, "derived, not checked") << rule.name;
  }
}

TEST(Pairs, FalseOnesNever) {
  const auto all = pairs("false");
  EXPECT_EQ(all.size(), 14u);
  for (const auto& rule : all) {
    const auto proof = prove(rule, axioms(), derivation());
    EXPECT_GT(proof.cases, 0) << rule.name << ": " << proof.reason;
    EXPECT_EQ(proof.reason.find("derived"), std::string::npos) << rule.name << ": " << proof.reason;
  }
}

// An axiom that the matcher cannot find, or whose conditions never follow, would be dead.
TEST(Axioms, EachCanBeUsed) {
  // Conditions on numbers that are not known in any case of the rule.
  const std::set<std::string> numbers{"leaky-relu-is", "relu-scale", "leaky_relu-scale", "clip-scale", "div-by-fill"};
  int used = 0;
  for (const auto& axiom : axioms().axioms()) {
    if (axiom.reversed || numbers.contains(axiom.name)) continue;
    const auto alone = AxiomSet::parse(rules::to_text(axiom.rule.text), axiom.name);
    auto options = derivation();
    options.certify = false;
    auto proof = prove(axiom.rule.text, *alone, options);
    if (!proof.derived()) {  // of five axes
      options.max_rank = 5;
      proof = prove(axiom.rule.text, *alone, options);
    }
    EXPECT_EQ(proof.reason, "derived, not certified") << axiom.name;
    ++used;
  }
  EXPECT_GE(used, 280);
}

}  // namespace
}  // namespace rlgo::rulegen

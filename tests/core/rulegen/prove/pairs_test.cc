// 45 pairs that hold and 14 that do not, by both routes; every axiom can be used.
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
// The derivation alone: what it says must be right without the last gate.
ProveOptions by(Route route) {
  ProveOptions options;
  options.route = route;
  options.check = false;
  return options;
}

TEST(Pairs, TrueOnesAreDerived) {
  const auto all = pairs("true");
  EXPECT_EQ(all.size(), 45u);
  for (const auto& rule : all) {
    const auto proof = prove(rule, axioms(), by(Route::egraph));
    EXPECT_EQ(proof.reason, "derived, not checked") << rule.name;
  }
}

TEST(Pairs, FalseOnesNeverByEitherRoute) {
  const auto all = pairs("false");
  EXPECT_EQ(all.size(), 14u);
  for (const auto& rule : all) {
    for (const Route route : {Route::egraph, Route::z3}) {
      const auto proof = prove(rule, axioms(), by(route));
      EXPECT_GT(proof.cases, 0) << rule.name << ": " << proof.reason;
      EXPECT_EQ(proof.reason.find("derived"), std::string::npos) << rule.name << ": " << proof.reason;
      EXPECT_FALSE(proof.z3_proved) << rule.name;
    }
  }
}

// Z3's own search over quantified axioms finds most of them, and says so only where the e-graph does, too.
TEST(Pairs, TheSecondRouteAgrees) {
  int proved = 0;
  for (const auto& rule : pairs("true")) {
    auto options = by(Route::both);
    options.certify = false;
    const auto proof = prove(rule, axioms(), options);
    proved += proof.z3_proved;
    EXPECT_EQ(proof.z3_reason.empty(), proof.z3_proved) << rule.name;
    EXPECT_EQ(proof.reason, "derived, not certified") << rule.name;
  }
  EXPECT_GE(proved, 41);  // not where an axiom asks for operands that have values (conv-enlarge)
}

// An axiom that the matcher cannot find, or whose conditions never follow, would be dead.
TEST(Axioms, EachCanBeUsed) {
  // Conditions on numbers that are not known in any case of the rule.
  const std::set<std::string> numbers{"leaky-relu-is", "relu-scale", "leaky_relu-scale", "clip-scale", "div-by-fill"};
  int used = 0;
  for (const auto& axiom : axioms().axioms()) {
    if (axiom.reversed || numbers.contains(axiom.name)) continue;
    const auto alone = AxiomSet::parse(rules::to_text(axiom.rule.text), axiom.name);
    auto options = by(Route::egraph);
    options.certify = false;
    const auto proof = prove(axiom.rule.text, *alone, options);
    EXPECT_EQ(proof.reason, "derived, not certified") << axiom.name;
    ++used;
  }
  EXPECT_GE(used, 280);
}

}  // namespace
}  // namespace rlgo::rulegen

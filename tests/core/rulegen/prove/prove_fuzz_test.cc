// Mutants of shipped rules are never derived where they are false; parts of the prover by themselves.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/rulegen/prove/certify.h"
#include "core/rulegen/prove/prove.h"
#include "core/rulegen/prove/shape.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {
namespace {

// The first operator, number or pair of operands that can be exchanged, in the order of the text. False: none.
bool mutate(rules::Term& term) {
  static const std::map<std::string, std::string> kOther{{"relu", "tanh"},       {"add", "mul"},      {"mul", "add"},
                                                         {"sub", "add"},         {"div", "mul"},      {"tanh", "relu"},
                                                         {"max_pool", "relu"},   {"gelu", "sigmoid"}, {"neg", "relu"},
                                                         {"hard_swish", "relu"}, {"min", "max"},      {"exp", "tanh"}};
  if (term.kind == rules::Term::Kind::scalar && term.value.kind == rules::Expr::Kind::integer) {
    ++term.value.integer;
    return true;
  }
  if (term.kind != rules::Term::Kind::node) return false;
  const auto other = kOther.find(term.text);
  if (other != kOther.end()) {
    term.text = other->second;
    return true;
  }
  if ((term.text == "concat" || term.text == "matmul") && term.operands.size() >= 2 && !term.operands[0].spread &&
      !term.operands[1].spread) {
    std::swap(term.operands[0], term.operands[1]);
    return true;
  }
  for (auto& operand : term.operands) {
    if (mutate(operand)) return true;
  }
  return false;
}

TEST(ProveFuzz, FalseMutantsAreNotDerived) {
  const auto axioms = AxiomSet::load("configs/rules/axioms.rules");
  int mutants = 0, refuted = 0;
  for (auto& rule : rules::parse_rules(read_file("configs/rules/base.rules"), "base.rules")) {
    if (rule.proof != "proved" || !mutate(rule.right.back().term)) continue;
    rule.proof = "unproved";
    rule.axioms.clear();
    ProveOptions options;
    options.certify = false;
    options.max_rank = 3;
    options.check_instances = 6;
    try {
      const Proof proof = prove(rule, *axioms, options);
      ++mutants;
      if (proof.verdict != Proof::Verdict::refuted) continue;
      ++refuted;
      EXPECT_FALSE(proof.derived()) << rules::to_text(rule) << proof.reason;
    } catch (const Error&) {
      // a mutant that is no rule (operands that do not fit)
    }
  }
  EXPECT_GT(mutants, 30);
  EXPECT_GT(refuted, 15);
}

TEST(ShippedProofs, NameKnownAxioms) {
  const auto names = AxiomSet::load("configs/rules/axioms.rules")->names();
  std::set<std::string> known(names.begin(), names.end());
  known.insert("commutativity");
  int proved = 0;
  for (const char* file : {"configs/rules/base.rules", "configs/rules/runtime.rules"}) {
    for (const auto& rule : rules::parse_rules(read_file(file), file)) {
      proved += rule.proof == "proved";
      for (const auto& axiom : rule.axioms) EXPECT_TRUE(known.contains(axiom)) << rule.name << ": " << axiom;
    }
  }
  EXPECT_GE(proved, 150);
}

using namespace sym;  // NOLINT

TEST(Facts, DivisibilityNamesTheQuotient) {
  ExtentPool pool;
  Facts facts(pool);
  Logic logic{facts, true};
  const ExtentId o = pool.symbol("o", 1), g = pool.symbol("g", 1);
  ExtentId each = 0;
  EXPECT_EQ(logic.divides(o, g, &each), Fit::fits);
  EXPECT_EQ(facts.canon(o), facts.canon(pool.mul(g, each)));
  EXPECT_EQ(facts.equal(pool.quotient(facts.canon(o), g), each), Truth::yes);
}

TEST(Facts, ProductOfOneIsOnes) {
  ExtentPool pool;
  Facts facts(pool);
  const ExtentId a = pool.symbol("a", 1), b = pool.symbol("b", 1);
  EXPECT_TRUE(facts.assume_equal(pool.mul(a, b), pool.number(1)));
  EXPECT_EQ(facts.equal(a, pool.number(1)), Truth::yes);
}

TEST(Facts, PiecesAreNotKnownFromTheirSum) {
  ExtentPool pool;
  Facts facts(pool);
  const ExtentId a = pool.symbol("a", 1), b = pool.symbol("b", 1), c = pool.symbol("c", 1), d = pool.symbol("d", 1);
  EXPECT_TRUE(facts.assume_equal(pool.add(a, b), pool.add(c, d)));
  EXPECT_EQ(facts.equal(a, c), Truth::unknown);
}

TEST(Facts, BroadcastAbsorbs) {
  ExtentPool pool;
  Facts facts(pool);
  const ExtentId a = pool.symbol("a", 1), b = pool.symbol("b", 1);
  EXPECT_FALSE(facts.absorbs(a, b));
  EXPECT_TRUE(facts.assume_absorbs(a, b));
  EXPECT_TRUE(facts.absorbs(a, b));
  EXPECT_FALSE(facts.assume_equal(pool.number(2), pool.number(3)));
}

TEST(EGraph, CongruenceIsExplainedAndCertified) {
  EGraph graph;
  const int relu = static_cast<int>(ops::Op::relu);
  const TermId x = graph.add(kVariable, 0, {}, Kids{0}), z = graph.add(kVariable, 1, {}, Kids{0});
  const TermId fx = graph.add(relu, 0, Kids{x}, Kids{0}), fz = graph.add(relu, 0, Kids{z}, Kids{0});
  EXPECT_FALSE(graph.same(fx, fz));
  EXPECT_TRUE(graph.merge(7, x, z));
  EXPECT_TRUE(graph.same(fx, fz));
  std::set<int32_t> used;
  graph.explain(fx, fz, used);
  EXPECT_EQ(used, std::set<int32_t>{0});
  std::vector<int32_t> core;
  Certifier certifier(100'000);
  EXPECT_EQ(certifier.entails(graph, {0}, {{fx, fz}}, core), Certifier::Answer::yes);
  EXPECT_EQ(core, std::vector<int32_t>{0});
  EXPECT_EQ(certifier.entails(graph, {}, {{fx, fz}}, core), Certifier::Answer::no);
  EXPECT_EQ(Certifier(1).entails(graph, {0}, {{fx, fz}}, core), Certifier::Answer::gave_up);
}

TEST(EGraph, RefusesOtherShapes) {
  EGraph graph;
  const TermId x = graph.add(kVariable, 0, {}, Kids{0}), z = graph.add(kVariable, 1, {}, Kids{1});
  EXPECT_FALSE(graph.merge(0, x, z));
  EXPECT_FALSE(graph.same(x, z));
  EXPECT_EQ(graph.refused(), 1);
}

}  // namespace
}  // namespace rlgo::rulegen

// Rules that are false somewhere: no proof, or a proof for a scope in which they are true.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/file.h"
#include "core/rulegen/prove/prove.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {
namespace {

constexpr const char* kFile = "tests/data/rules/false-rules.rules";

bool tagged(const rules::RuleText& rule, const char* tag) {
  return std::ranges::find(rule.tags, tag) != rule.tags.end();
}

class FalseRule : public testing::TestWithParam<rules::RuleText> {};
TEST_P(FalseRule, IsProvedNowhereOrWithinItsScope) {
  static const auto axioms = AxiomSet::load("configs/rules/axioms.rules");
  const Proof proof = prove(GetParam(), *axioms);
  if (tagged(GetParam(), "unprovable")) {
    EXPECT_NE(proof.verdict, Proof::Verdict::proved);
    return;
  }
  EXPECT_EQ(proof.verdict, Proof::Verdict::proved) << proof.reason;
  EXPECT_FALSE(proof.scope.all_types);
  EXPECT_EQ(proof.scope.max_rank, 4);
}
INSTANTIATE_TEST_SUITE_P(Rules, FalseRule, testing::ValuesIn(rules::parse_rules(read_file(kFile), kFile)),
                         [](const auto& rule) {
                           std::string name = rule.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

Proof prove_with(const std::string& body, ProveOptions options) {
  static const auto axioms = AxiomSet::load("configs/rules/axioms.rules");
  return prove(rules::parse_rules("rule test\n" + body, "test.rules").at(0), *axioms, options);
}

// Few random shapes show what is wrong with these: an order of three axes, a fifth axis.
TEST(NotProved, IsRefutedAtSmallShapesToo) {
  for (const char* body : {"?y = (transpose (transpose ?x perm=?p) perm=?p) => ?y = ?x",
                           "?y = (reduce_sum (reshape ?x shape=[?n, ?c, ?p]) axes=[2] keepdims=1)\n"
                           "=> ?y = (reshape (reduce_sum ?x axes=[2, 3] keepdims=1) shape=[?n, ?c, 1])",
                           "?y = (slice (add ?x (reshape ?b shape=[1, ?o, 1, 1])) axes=[1] ..?A)\n"
                           "=> ?c = (slice ?b axes=[0] ..?A)\n"
                           "?y = (add (slice ?x axes=[1] ..?A) (reshape ?c shape=[1, dim(?c, 0), 1, 1]))"}) {
    EXPECT_EQ(prove_with(body, {}).verdict, Proof::Verdict::refuted) << body;
  }
  EXPECT_EQ(prove_with("?y = (exp (log ?x)) => ?y = ?x", {}).verdict, Proof::Verdict::unknown);
}

TEST(ProofScope, OfWhatMovesElementsIsAllTypes) {
  const Proof proof =
      prove_with("?y = (transpose (transpose ?x perm=?p) perm=?q) => ?y = (transpose ?x perm=pick(?p, ?q))", {});
  EXPECT_EQ(rules::to_text(proof.scope), "all types, ranks to 4");
}

TEST(ProofScope, GrowsToWhatIsProvedToo) {
  ProveOptions options;
  options.widest_rank = 5;
  options.widest_list = 6;
  const Proof proof = prove_with("?y = (relu (concat ?xs... axis=?k)) => ?y = (concat (relu ?xs)... axis=?k)", options);
  EXPECT_EQ(rules::to_text(proof.scope), "floats, ranks to 5, lists to 6");
}

TEST(ProofScope, StaysWhereARuleIsFalseBeyondIt) {
  ProveOptions options;
  options.widest_rank = 6;
  const Proof proof =
      prove_with("?y = (mul ?x (fill shape=[] value=?v)) when rank(?x) >= 5 or ?v == 1 => ?y = ?x", options);
  EXPECT_EQ(rules::to_text(proof.scope), "floats, ranks to 4");
}

// A summand with the channels on the third axis from the end is a bias of images, not of lines or volumes.
TEST(ProofScope, GrowsToOtherWindowsWhereTheRuleHolds) {
  const auto scope = [](const std::string& axis) {
    ProveOptions options;
    options.widest_windows = true;
    const std::string body =
        "?y = (add (conv2d ?x ?w act=none ..?A) ?b)\n"
        "when elements(?b) == dim(?w, 0) and dim(?b, " +
        axis +
        ") == dim(?w, 0)\n"
        "=> ?y = (conv2d ?x ?w (reshape ?b shape=[dim(?w, 0)]) act=none ..?A)";
    return rules::to_text(prove_with(body, options).scope);
  };
  EXPECT_EQ(scope("1 - rank(?w)"), "floats, ranks to 4, windows of 1 to 3 axes");
  EXPECT_EQ(scope("-3"), "floats, ranks to 4");
}

TEST(ProofScope, OfWindowsAlongOneAxis) {
  const Proof proof = prove_with(
      "?y = (max_pool (relu ?x) kernel=[?k] strides=[?s] pads=[?l, ?r] ..?A)\n"
      "=> ?y = (relu (max_pool ?x kernel=[?k] strides=[?s] pads=[?l, ?r] ..?A))",
      {});
  EXPECT_EQ(rules::to_text(proof.scope), "floats, ranks to 4, windows of 1 to 3 axes");
}

TEST(ProofScope, ListsAroundAConcatMayHaveAnyLength) {
  const Proof proof = prove_with(
      "?y = (concat ?ls... (relu ?a) (relu ?b) ?rs... axis=?k)"
      " => ?y = (concat ?ls... (relu (concat ?a ?b axis=?k)) ?rs... axis=?k)",
      {});
  EXPECT_EQ(rules::to_text(proof.scope), "floats, ranks to 4, lists of any length");
}

}  // namespace
}  // namespace rlgo::rulegen

#include <gtest/gtest.h>

#include "core/graph/text.h"
#include "core/rulegen/check/bounded.h"
#include "core/rulegen/check/check.h"

namespace rlgo::rulegen {
namespace {

CheckResult check(const std::string& left, const std::string& right) {
  return check_graphs(graph::from_text("graph \"a\"\n" + left), graph::from_text("graph \"a\"\n" + right), {});
}
CheckResult check_text(const std::string& rule) {
  const auto rules = rules::RuleSet::parse(rule, "test.rules");
  return check_rule(*rules, 0, {});
}

TEST(CheckGraphs, EqualDifferentUnknown) {
  const std::string x = "%0 = input \"x\" : f32[2,3]\n";
  const auto same =
      check(x + "%1 = relu(%0)\n%2 = relu(%1)\noutput \"y\" = %2\n", x + "%1 = relu(%0)\noutput \"y\" = %1\n");
  EXPECT_EQ(same.verdict, CheckVerdict::equal);
  EXPECT_EQ(same.exact, 1);
  const auto other = check(x + "%1 = abs(%0)\noutput \"y\" = %1\n", x + "%1 = relu(%0)\noutput \"y\" = %1\n");
  ASSERT_EQ(other.verdict, CheckVerdict::different);
  EXPECT_EQ(other.counterexample->output.substr(0, 2), "y[");
  EXPECT_EQ(other.counterexample->right_value, 0);
  EXPECT_GT(other.counterexample->left_value, 0);
  EXPECT_NE(other.counterexample->to_text().find("f32[2,3]"), std::string::npos);
  const std::string whole = "%0 = input \"x\" : i64[2]\n%1 = div(%0, %0)\noutput \"y\" = %1\n";
  const auto no_reals = check(whole, whole);
  EXPECT_EQ(no_reals.verdict, CheckVerdict::unknown);
  EXPECT_EQ(no_reals.why, "div of i64[2] is not evaluated over the reals");
}

TEST(CheckGraphs, ProductsOfReluAreSeenByZ3) {
  const std::string head = "%0 = input \"x\" : f32[4]\n%1 = relu(%0)\n";
  const auto result =
      check(head + "%2 = mul(%1, %1)\noutput \"y\" = %2\n", head + "%2 = mul(%0, %1)\noutput \"y\" = %2\n");
  EXPECT_EQ(result.verdict, CheckVerdict::equal);
  EXPECT_EQ(result.exact, 0);
  EXPECT_EQ(result.by_z3, 1);
  EXPECT_EQ(result.inexact, 0);
}

TEST(CheckGraphs, RoundedEqualityIsNoEquality) {
  // exp(log(x)) = x is true where log is, but log is a hash in the field.
  const std::string x = "%0 = input \"x\" : f32[2]\n%1 = log(%0)\n%2 = exp(%1)\n";
  const auto result = check(x + "output \"y\" = %2\n", x + "output \"y\" = %0\n");
  EXPECT_EQ(result.verdict, CheckVerdict::unknown);
  EXPECT_EQ(result.why, "equal as rounded numbers, but not by the laws that the prime ring knows");
}

TEST(CheckRule, TransformerVocabulary) {
  EXPECT_EQ(check_text("rule a\n ?y = (softmax (sub ?x (reduce_max ?x axes=[?a] keepdims=1)) axis=?a)\n"
                       " => ?y = (softmax ?x axis=?a)\n")
                .verdict,
            CheckVerdict::equal);
  EXPECT_EQ(check_text("rule a\n ?e = (exp ?x)\n ?y = (div ?e (reduce_sum ?e axes=[?a] keepdims=1))\n"
                       " => ?y = (softmax ?x axis=?a)\n")
                .verdict,
            CheckVerdict::equal);
  EXPECT_EQ(check_text("rule a\n ?y = (mul (layer_norm ?x ?g axis=?a) ?c)\n when shape(?c) == shape(?g)\n"
                       " => ?y = (layer_norm ?x (mul ?g ?c) axis=?a)\n")
                .verdict,
            CheckVerdict::equal);
  EXPECT_EQ(check_text("rule a\n ?y = (softmax (mul ?x ?c) axis=?a)\n when value(?c) == 2\n"
                       " => ?y = (softmax ?x axis=?a)\n")
                .verdict,
            CheckVerdict::different);
  EXPECT_EQ(check_text("rule a\n ?y = (sub (mul (sigmoid (mul ?x 2)) 2) 1)\n => ?y = (tanh ?x)\n").verdict,
            CheckVerdict::equal);
  EXPECT_EQ(check_text("rule a\n ?y = (gelu ?x approximate=tanh)\n => ?y = (gelu ?x approximate=none)\n").verdict,
            CheckVerdict::different);
}

TEST(CheckRule, ReportsWhereNothingIsKnown) {
  const auto result = check_text("rule a\n ?y = (relu ?x)\n when rank(?x) == 9\n => ?y = ?x\n");
  EXPECT_EQ(result.verdict, CheckVerdict::unknown);
  EXPECT_EQ(result.why, "no instance on which the conditions hold in 20000 attempts");
}

TEST(Choices, EveryCombinationOnce) {
  AllChoices all;
  std::vector<std::string> seen;
  do {
    std::string one = std::to_string(all.pick(2));
    if (one == "1") one += std::to_string(all.pick(3));
    seen.push_back(one);
  } while (all.next());
  EXPECT_EQ(seen, (std::vector<std::string>{"0", "10", "11", "12"}));
}

TEST(Bounded, FalseAxiomsAreRefuted) {
  const std::filesystem::path file = "tests/data/rules/false-axioms.rules";
  const auto rules = rules::RuleSet::load(std::span(&file, 1));
  EXPECT_GE(rules->size(), 40);
  BoundedOptions options;
  options.bounds.dims = 3;
  options.reads = true;
  options.most_tries = 4'000;
  for (int r = 0; r < rules->size(); ++r) {
    const auto result = check_bounded(*rules, r, options).check;
    EXPECT_EQ(result.verdict, CheckVerdict::different) << rules->name(r);
  }
}

TEST(Bounded, OrderIsSeenByZ3AndExtentsGrowWhereNeeded) {
  BoundedOptions options;
  options.most_tries = 20;
  const auto square = rules::RuleSet::parse("rule a\n ?y = (sqrt (mul ?x ?x))\n => ?y = (abs ?x)\n", "t");
  const auto first = check_bounded(*square, 0, options);
  EXPECT_EQ(first.check.verdict, CheckVerdict::equal);
  EXPECT_EQ(first.check.inexact, 0);
  EXPECT_GT(first.check.by_z3, 0);
  EXPECT_EQ(first.dims, 2);
  const auto three = rules::RuleSet::parse(
      "rule a\n ?y = (relu (relu ?x))\n when rank(?x) == 1 and dim(?x, 0) == 3\n => ?y = (relu ?x)\n", "t");
  const auto second = check_bounded(*three, 0, options);
  EXPECT_EQ(second.check.verdict, CheckVerdict::equal);
  EXPECT_EQ(second.dims, 3);
  options.reach = 2;
  EXPECT_EQ(check_bounded(*three, 0, options).check.why, "no instance within the bounds");
}

TEST(Bounded, WhatHoldsUpToFourAxesOnly) {
  const auto rules = rules::RuleSet::parse(
      "rule a\n ?y = (reduce_sum (reshape ?x shape=[?n, ?c, ?p]) axes=[2] keepdims=1)\n"
      " => ?y = (reshape (reduce_sum ?x axes=[2, 3] keepdims=1) shape=[?n, ?c, 1])\n",
      "t");
  BoundedOptions options;
  options.most_tries = 20'000;
  EXPECT_EQ(check_bounded(*rules, 0, options).check.verdict, CheckVerdict::equal);
  options.of_many_axes = 50;
  EXPECT_EQ(check_bounded(*rules, 0, options).check.verdict, CheckVerdict::different);
}

TEST(Bounded, TrueOneIsExhaustive) {
  const auto rules =
      rules::RuleSet::parse("rule a\n ?y = (transpose (transpose ?x perm=[1,0]) perm=[1,0])\n => ?y = ?x\n", "t");
  BoundedOptions options;
  options.bounds.dims = 3;
  const auto result = check_bounded(*rules, 0, options);
  EXPECT_EQ(result.check.verdict, CheckVerdict::equal);
  EXPECT_EQ(result.check.exact, 9);  // 3 x 3 extents
  EXPECT_TRUE(result.exhaustive);
}

}  // namespace
}  // namespace rlgo::rulegen

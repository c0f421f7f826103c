// Products and quotients of values that are known at run time only.
#include "core/rules/ranges.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/rules/rules.h"

namespace rlgo::rules {
namespace {

using graph::Editor;
using graph::Graph;
using graph::Value;
using ops::Attr;
using ops::DType;
using ops::Op;

// Whether the rule applies to one of its left sides. Variables in `numbers` are constants of that number, all others
// are inputs.
using Numbers = std::map<std::string, double>;
constexpr const char* kMulAssociate = "?y = (mul (mul ?x ?a) ?c) => ?y = (mul ?x (mul ?a ?c))";
constexpr const char* kDivOfDiv = "?y = (div (div ?x ?a) ?c) => ?y = (div ?x (mul ?a ?c))";

bool applies(const std::string& rule, Op op, const Numbers& numbers, DType type = DType::f32) {
  Editor editor("g");
  const auto leaf = [&](const char* name) {
    const auto number = numbers.find(name);
    if (number == numbers.end()) return editor.add_input(name, {type, {}});
    return editor.op(
        Op::fill, {},
        {{Attr::shape, ops::Ints{}}, {Attr::value, number->second}, {Attr::to, std::string(ops::name(type))}});
  };
  const Value x = leaf("x"), a = leaf("a"), c = leaf("c");
  editor.add_output("y", editor.op(op, {editor.op(op, {x, a}), c}));
  return !find_matches(*RuleSet::parse("rule r\n" + rule, "test.rules"), 0, *editor.finish()).empty();
}

TEST(Ranges, AProductOfRunTimeFactorsIsNotMade) {
  EXPECT_FALSE(applies(kMulAssociate, Op::mul, {}));
  EXPECT_FALSE(applies(kDivOfDiv, Op::div, {}));
  EXPECT_TRUE(applies(kMulAssociate, Op::mul, {{"c", 3}}));
  EXPECT_TRUE(applies(kDivOfDiv, Op::div, {{"a", 3}}));
}

TEST(Ranges, AnExtremeConstantIsNoFactorOfARunTimeValue) {
  EXPECT_FALSE(applies(kMulAssociate, Op::mul, {{"c", 1e-30}}));
  EXPECT_FALSE(applies(kMulAssociate, Op::mul, {{"c", 1e30}}));
  EXPECT_TRUE(applies(kMulAssociate, Op::mul, {{"a", 1e-30}, {"c", 1e30}}));  // folded, and checked there
}

// What is divided by 1 + exp(y) is its limit 0 where that overflows; what is multiplied by 1 / exp(y) is no number
// then.
TEST(Ranges, AnExponentialMayOverflowWhereItsLimitIsRight) {
  const std::string left = "?y = (add (add ?x ?a) ?c) => ?e = (exp ?a) ?y = ";
  EXPECT_TRUE(applies(left + "(div ?x (add ?e 1.0))", Op::add, {}));
  EXPECT_TRUE(applies(left + "(div ?x (add (div 2.0 (mul ?e (add ?e 2.0))) 1.0))", Op::add, {}));
  EXPECT_FALSE(applies(left + "(div ?x (add ?e 1.0))", Op::add, {}, DType::f16));
  for (const char* right : {"(div ?x ?e)", "(mul ?x (div 1.0 ?e))", "(div ?e (add ?e 1.0))", "(sub (add ?e ?x) ?e)",
                            "(div ?x (add (mul ?e (div 1.0 ?e)) 1.0))", "(div ?x (add (mul ?e (exp ?c)) 1.0))"})
    EXPECT_FALSE(applies(left + right, Op::add, {})) << right;
}

TEST(Ranges, AnExponentialOfWhatIsNotAboveZeroIsAtMostOne) {
  const std::string left = "?y = (add (add ?x ?a) ?c) => ?y = (mul ?x ";
  EXPECT_TRUE(applies(left + "(exp (neg (abs ?a))))", Op::add, {}));
  EXPECT_TRUE(applies(left + "(exp (clip ?a min=-inf max=0.0)))", Op::add, {}));
  EXPECT_FALSE(applies(left + "(exp (abs ?a)))", Op::add, {}));
}

TEST(Ranges, InHalfPrecisionOnlyConstantsAreMultiplied) {
  EXPECT_FALSE(applies(kMulAssociate, Op::mul, {{"c", 300}}, DType::f16));
  EXPECT_TRUE(applies(kMulAssociate, Op::mul, {{"c", 300}}, DType::bf16));
  EXPECT_TRUE(applies(kMulAssociate, Op::mul, {{"a", 300}, {"c", 2}}, DType::f16));
  const std::string sum = "?y = (add (add ?x ?a) ?c) => ?y = (add ?x (add ?a ?c))";
  EXPECT_FALSE(applies(sum, Op::add, {}, DType::f16));
  EXPECT_TRUE(applies(sum, Op::add, {}));
}

// Whether a rule asks nothing of its operands in single precision.
bool is_free(const std::string& rule) {
  const auto set = RuleSet::parse("rule r\n" + rule, "test.rules");
  return !set->rule(0).ranges || set->rule(0).ranges->half_only();
}

TEST(Ranges, WhatLiesBetweenValuesOfTheLeftSideIsInRange) {
  EXPECT_TRUE(is_free("?y = (pow ?x 3) => ?y = (mul ?x (mul ?x ?x))"));
  EXPECT_TRUE(is_free("?y = (pow ?x -0.5) when float(?x) => ?y = (div 1 (sqrt ?x))"));
  EXPECT_TRUE(is_free("?y = (mul (exp ?a) (exp ?b)) => ?y = (exp (add ?a ?b))"));
  EXPECT_FALSE(is_free("?y = (exp (add ?a ?b)) => ?y = (mul (exp ?a) (exp ?b))"));
  EXPECT_FALSE(is_free("?y = (div ?a ?b) => ?y = (mul ?a (div 1 ?b))"));
  EXPECT_FALSE(is_free("?y = (abs ?x) => ?y = (sqrt (mul ?x ?x))"));
}

TEST(Ranges, BoundedValuesMayBeMultiplied) {
  EXPECT_TRUE(is_free("?y = (hard_swish ?x) => ?y = (mul ?x (div (clip (add ?x 3) min=0 max=6) 6))"));
  EXPECT_FALSE(is_free("?y = (hard_swish ?x) => ?y = (div (mul ?x (clip (add ?x 3) min=0 max=6)) 6)"));
  EXPECT_TRUE(
      is_free("?y = (softmax ?x axis=?k) => ?e = (exp (sub ?x (reduce_max ?x axes=[?k] keepdims=1))) ?y = (div ?e "
              "(reduce_sum ?e "
              "axes=[?k] keepdims=1))"));
  EXPECT_FALSE(
      is_free("?y = (softmax ?x axis=?k) => ?e = (exp ?x) ?y = (div ?e (reduce_sum ?e axes=[?k] keepdims=1))"));
}

TEST(Ranges, ProductsOfMatricesAndConvolutionsAreProducts) {
  EXPECT_FALSE(is_free("?y = (matmul (matmul ?x ?u) ?v) => ?y = (matmul ?x (matmul ?u ?v))"));
  EXPECT_FALSE(is_free("?y = (conv2d (mul ?x ?s) ?w) when rank(?s) == 0 => ?y = (conv2d ?x (mul ?w ?s))"));
  EXPECT_TRUE(is_free("?y = (matmul ?x (add ?u ?v)) => ?y = (add (matmul ?x ?u) (matmul ?x ?v))"));
}

TEST(Ranges, ShippedRulesThatAskForConstants) {
  const auto count = [](const char* file) {
    const auto path = std::filesystem::path("configs/rules") / file;
    const auto set = RuleSet::load(std::span(&path, 1));
    std::pair<int, int> asking;  // in any precision, in half precision alone
    for (int k = 0; k < set->size(); ++k) {
      const auto& ranges = set->rule(k).ranges;
      if (ranges) ++(ranges->half_only() ? asking.second : asking.first);
    }
    return asking;
  };
  EXPECT_EQ(count("base.rules"), std::pair(14, 15));
  EXPECT_EQ(count("runtime.rules"), std::pair(27, 31));
  EXPECT_EQ(count("motion.rules"), std::pair(2, 3));
  EXPECT_EQ(count("winograd.rules"), std::pair(0, 12));
}

}  // namespace
}  // namespace rlgo::rules

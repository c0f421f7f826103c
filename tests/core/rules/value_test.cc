#include "core/rules/value.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rlgo::rules {
namespace {

using ops::Ints;

Val call(std::string_view name, std::vector<Val> args) {
  const Fn fn = find_function(name);
  EXPECT_NE(fn, Fn::none) << name;
  return function(fn).call(args);
}
Val i(int64_t number) { return number; }

TEST(Value, ArithmeticRoundsDownAndStopsAtOverflow) {
  EXPECT_EQ(call("/", {i(-7), i(2)}), i(-4));
  EXPECT_EQ(call("%", {i(-7), i(2)}), i(1));
  EXPECT_EQ(call("/", {i(7), i(2)}), i(3));
  EXPECT_EQ(call("/", {Val(7.0), i(2)}), Val(3.5));
  EXPECT_FALSE(has_value(call("/", {i(1), i(0)})));
  EXPECT_FALSE(has_value(call("+", {i(INT64_MAX), i(1)})));
  EXPECT_FALSE(has_value(call("/", {i(INT64_MIN), i(-1)})));
  EXPECT_FALSE(has_value(call("*", {Val(std::string("a")), i(1)})));
}

TEST(Value, ListsGoElementByElement) {
  EXPECT_EQ(call("+", {Val(Ints{1, 2}), Val(Ints{10, 20})}), Val(Ints{11, 22}));
  EXPECT_EQ(call("*", {i(2), Val(Ints{1, 2})}), Val(Ints{2, 4}));
  EXPECT_FALSE(has_value(call("+", {Val(Ints{1, 2}), Val(Ints{1})})));
}

TEST(Value, Lists) {
  EXPECT_EQ(call("[]", {Val(Ints{5, 6, 7}), i(-1)}), i(7));
  EXPECT_FALSE(has_value(call("[]", {Val(Ints{5}), i(1)})));
  EXPECT_EQ(call("cat", {i(1), Val(Ints{2, 3}), i(4)}), Val(Ints{1, 2, 3, 4}));
  EXPECT_EQ(call("sum", {Val(Ints{1, 2, 3})}), i(6));
  EXPECT_EQ(call("product", {Val(Ints{})}), i(1));
  EXPECT_EQ(call("index_of", {Val(Ints{4, 5}), i(5)}), i(1));
  EXPECT_FALSE(has_value(call("index_of", {Val(Ints{4, 5}), i(6)})));
  EXPECT_EQ(call("iota", {i(3)}), Val(Ints{0, 1, 2}));
  EXPECT_FALSE(has_value(call("iota", {i(1000000000)})));
  EXPECT_EQ(call("repeat", {i(7), i(2)}), Val(Ints{7, 7}));
  EXPECT_EQ(call("set", {Val(Ints{1, 2}), i(0), i(9)}), Val(Ints{9, 2}));
  EXPECT_EQ(call("sub", {Val(Ints{1, 2, 3}), i(1), i(3)}), Val(Ints{2, 3}));
  EXPECT_EQ(call("has", {Val(Ints{1, 2}), i(2)}), Val(true));
  EXPECT_EQ(call("len", {Val(Ints{1, 2})}), i(2));
}

TEST(Value, Permutations) {
  EXPECT_EQ(call("inverse", {Val(Ints{2, 0, 1})}), Val(Ints{1, 2, 0}));
  EXPECT_FALSE(has_value(call("inverse", {Val(Ints{0, 0})})));
  // transpose(transpose(x, q), p) with q = [2,0,1], p = [0,2,1]: output axis 1 is axis 2 of the inner one, axis 1 of x.
  EXPECT_EQ(call("pick", {Val(Ints{2, 0, 1}), Val(Ints{0, 2, 1})}), Val(Ints{2, 1, 0}));
}

TEST(Value, ComparisonsMixNumbersOnly) {
  EXPECT_EQ(call("==", {i(2), Val(2.0)}), Val(true));
  EXPECT_EQ(call("==", {Val(Ints{1}), Val(Ints{1})}), Val(true));
  EXPECT_FALSE(has_value(call("==", {Val(Ints{1}), i(1)})));
  EXPECT_FALSE(has_value(call("<", {Val(Ints{1}), i(2)})));
  EXPECT_EQ(call("near", {Val(1.0 / 6), Val(0.16666667163372)}), Val(true));
  EXPECT_EQ(call("near", {Val(0.1666), Val(1.0 / 6)}), Val(false));
  EXPECT_EQ(call("near", {Val(-INFINITY), Val(0.0)}), Val(false));
  EXPECT_EQ(call("near", {Val(INFINITY), Val(INFINITY)}), Val(true));
}

TEST(Value, TruthIsThreeValued) {
  EXPECT_EQ(call("or", {Val(true), Val()}), Val(true));
  EXPECT_FALSE(has_value(call("or", {Val(false), Val()})));
  EXPECT_EQ(call("and", {Val(false), Val()}), Val(false));
  EXPECT_FALSE(has_value(call("and", {Val(true), Val()})));
  EXPECT_FALSE(has_value(call("not", {Val()})));
  EXPECT_EQ(call("if", {Val(false), i(1), i(2)}), i(2));
}

TEST(Value, Shapes) {
  EXPECT_EQ(call("broadcast", {Val(Ints{2, 1}), Val(Ints{3})}), Val(Ints{2, 3}));
  EXPECT_FALSE(has_value(call("broadcast", {Val(Ints{2}), Val(Ints{3})})));
}

// [s, 2] with an open size s.
TEST(Value, ListFunctionsTakeOpenExtents) {
  const Val open = from_extent(ops::Extent::symbol(0, 4, 1)), list = call("cat", {open, i(2)});
  EXPECT_EQ(call("[]", {list, i(-1)}), i(2));
  EXPECT_EQ(call("len", {list}), i(2));
  EXPECT_EQ(call("product", {list}), call("*", {i(2), open}));
  EXPECT_EQ(call("repeat", {open, i(2)}), call("cat", {open, open}));
  EXPECT_EQ(call("set", {list, i(0), i(9)}), Val(Ints{9, 2}));
  EXPECT_EQ(call("sub", {list, i(1), i(2)}), Val(Ints{2}));
  EXPECT_EQ(call("index_of", {list, open}), i(0));
  EXPECT_FALSE(has_value(call("has", {list, i(2)})));  // s may be 2
  EXPECT_FALSE(has_value(call("[]", {list, open})));
  EXPECT_FALSE(has_value(call("iota", {open})));
}

TEST(Value, AttributesKeepTheirKind) {
  EXPECT_EQ(to_attr(i(2), 0.5), ops::AttrValue(2.0));
  EXPECT_EQ(to_attr(Val(2.0), int64_t{0}), std::nullopt);
  EXPECT_EQ(to_attr(Val(true), int64_t{0}), std::nullopt);
  EXPECT_TRUE(equal(i(2), ops::AttrValue(2.0)));
  EXPECT_FALSE(equal(Val(std::string("relu")), ops::AttrValue(std::string("none"))));
}

}  // namespace
}  // namespace rlgo::rules

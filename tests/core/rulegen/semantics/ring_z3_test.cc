// Z3's terms as a ring: what it proves, and that it proves nothing else.
#include "core/rulegen/semantics/ring_z3.h"

#include <gtest/gtest.h>

#include <array>

namespace rlgo::rulegen {
namespace {

using Answer = Z3Ring::Answer;

class Z3RingTest : public testing::Test {
 protected:
  using Element = Z3Ring::Element;
  Element max(Element a, Element b) { return ring.maximum(std::array{a, b}); }
  Element relu(Element a) { return max(a, ring.zero()); }
  bool same(Element a, Element b) { return ring.prove_equal(a, b) == Answer::equal; }
  Z3Ring ring;
  Element x = ring.variable(1), y = ring.variable(2), one = ring.integer(1), two = ring.integer(2);
};

TEST_F(Z3RingTest, Arithmetic) {
  EXPECT_EQ(ring.variable(1), x);
  EXPECT_EQ(ring.whole(ring.add(two, one)), 3);
  EXPECT_EQ(ring.whole(ring.ratio(1, 2)), std::nullopt);
  EXPECT_TRUE(same(ring.mul(ring.add(x, y), ring.sub(x, y)), ring.sub(ring.mul(x, x), ring.mul(y, y))));
  EXPECT_FALSE(same(ring.mul(x, x), x));
  EXPECT_FALSE(same(x, y));
}

TEST_F(Z3RingTest, Order) {
  EXPECT_TRUE(same(ring.mul(relu(x), relu(x)), ring.mul(x, relu(x))));
  EXPECT_TRUE(same(ring.mul(ring.add(x, y), relu(x)), ring.mul(relu(x), ring.add(y, relu(x)))));
  EXPECT_TRUE(same(ring.minimum(std::array{x, y}), ring.neg(max(ring.neg(x), ring.neg(y)))));
  EXPECT_FALSE(same(max(x, y), x));
  EXPECT_FALSE(same(relu(ring.add(x, y)), ring.add(relu(x), relu(y))));
}

TEST_F(Z3RingTest, Functions) {
  EXPECT_TRUE(same(relu(ring.apply(Fn::sigmoid, x)), ring.apply(Fn::sigmoid, x)));
  EXPECT_FALSE(same(relu(ring.apply(Fn::tanh, x)), ring.apply(Fn::tanh, x)));
  EXPECT_TRUE(same(relu(ring.apply(Fn::tanh, x)), ring.apply(Fn::tanh, relu(x))));
  EXPECT_TRUE(same(max(ring.apply(Fn::exp, x), ring.apply(Fn::exp, y)), ring.apply(Fn::exp, max(x, y))));
  EXPECT_TRUE(same(ring.apply(Fn::sqrt, ring.mul(x, x)), max(x, ring.neg(x))));
  EXPECT_FALSE(same(ring.apply(Fn::sqrt, ring.mul(x, x)), x));
  const auto reciprocal_of_one_and = [&](Element e) { return ring.div(one, ring.add(ring.apply(Fn::exp, e), one)); };
  EXPECT_TRUE(same(ring.apply(Fn::sigmoid, x), reciprocal_of_one_and(ring.neg(x))));
  EXPECT_FALSE(same(ring.apply(Fn::sigmoid, x), reciprocal_of_one_and(x)));
  EXPECT_FALSE(same(ring.apply(Fn::exp, ring.mul(x, y)), ring.mul(ring.apply(Fn::exp, x), ring.apply(Fn::exp, y))));
}

// Equal where the left side has a value; the right side must have one there.
TEST_F(Z3RingTest, Domains) {
  const auto quotient = ring.div(ring.mul(x, y), y);
  EXPECT_TRUE(same(quotient, x));
  EXPECT_FALSE(same(x, quotient));
  const auto root = ring.apply(Fn::sqrt, x);
  EXPECT_TRUE(same(ring.mul(root, root), x));
  EXPECT_FALSE(same(x, ring.mul(root, root)));
  EXPECT_TRUE(same(ring.power(x, ring.ratio(-1, 2)), ring.div(one, root)));
  EXPECT_TRUE(same(ring.div(x, two), ring.mul(x, ring.number(0.5))));
}

// What was proved for some variables holds for others of the same pattern, and for no other pattern.
TEST_F(Z3RingTest, PatternsAreRemembered) {
  EXPECT_TRUE(same(max(relu(x), x), relu(x)));
  EXPECT_TRUE(same(max(relu(y), y), relu(y)));
  EXPECT_FALSE(same(max(relu(x), y), relu(x)));
  EXPECT_FALSE(same(max(relu(y), x), relu(y)));
  EXPECT_FALSE(same(ring.minimum(std::array{relu(x), x}), relu(x)));
}

// With so few of Z3's resource units nothing is proved, and that is reported.
TEST_F(Z3RingTest, EffortIsBounded) {
  Z3Ring poor(20'000, 1);
  const auto a = poor.variable(1), b = poor.variable(2);
  const auto larger = poor.maximum(std::array{a, b}), smaller = poor.minimum(std::array{a, b});
  EXPECT_EQ(poor.prove_equal(poor.mul(larger, smaller), poor.mul(a, b)), Answer::open);
  EXPECT_TRUE(poor.gave_up());
  EXPECT_TRUE(same(ring.mul(max(x, y), ring.minimum(std::array{x, y})), ring.mul(x, y)));
  EXPECT_FALSE(ring.gave_up());
}

TEST_F(Z3RingTest, GivesUp) {
  Z3Ring small(5);
  auto sum = small.variable(0);
  for (uint64_t k = 1; k < 10; ++k) sum = small.add(sum, small.variable(k));
  EXPECT_TRUE(small.failed());
  EXPECT_EQ(small.prove_equal(sum, sum), Answer::open);
}

}  // namespace
}  // namespace rlgo::rulegen

#include <gtest/gtest.h>

#include "core/base/rng.h"
#include "core/rulegen/semantics/real.h"
#include "core/rulegen/semantics/ring_poly.h"
#include "core/rulegen/semantics/ring_prime.h"

namespace rlgo::rulegen {
namespace {

using P = PolyRing::Element;

TEST(Prime, InverseAndPowers) {
  EXPECT_EQ(prime_mul(prime_of(3), prime_inverse(3)), 1u);
  EXPECT_EQ(prime_of(-1), kPrime - 1);
  EXPECT_EQ(prime_of(INT64_MIN), kPrime - 4);  // -2^63 = -4 * 2^61
  EXPECT_EQ(prime_pow(2, 61), 1u);
  EXPECT_EQ(prime_inverse(0), 0u);
}

TEST(Real, NamesTheNumberThatIsMeant) {
  const auto is = [](double value, int64_t num, int64_t den, int64_t root = 1) {
    const Real real = real_of(value);
    return real.exact && real.num == num && real.den == den && real.root == root;
  };
  EXPECT_TRUE(is(0.5, 1, 2));
  EXPECT_TRUE(is(-3, -3, 1));
  EXPECT_TRUE(is(1.0 / 6, 1, 6));
  EXPECT_TRUE(is(static_cast<double>(1.0f / 49), 1, 49));
  EXPECT_TRUE(is(1e-5, 1, 100000));
  EXPECT_TRUE(is(static_cast<double>(0.044715f), 8943, 200000));
  EXPECT_TRUE(is(1.4142135, 1, 1, 2));
  EXPECT_TRUE(is(-0.70710678, -1, 2, 2));
  EXPECT_TRUE(is(0, 0, 1));
  EXPECT_FALSE(real_of(0.7978845608028654).exact);
  EXPECT_FALSE(real_of(INFINITY).exact);
  EXPECT_TRUE(is(0x1.3579bp-3, 0x13579b, 1 << 23));
  EXPECT_TRUE(is(1 / 0x1.3579bp-3, 1 << 23, 0x13579b));
  EXPECT_FALSE(real_of(1.2345678901e-30).exact);
}

TEST(PrimeRing, FieldLawsAndRealsGoTogether) {
  PrimeRing ring(7);
  Rng rng({1});
  for (int round = 0; round < 200; ++round) {
    const auto draw = [&] { return ring.free(static_cast<int64_t>(rng.below(1 << 20)) - (1 << 19)); };
    const auto a = draw(), b = draw(), c = draw();
    const auto left = ring.mul(ring.add(a, b), c), right = ring.add(ring.mul(a, c), ring.mul(b, c));
    EXPECT_TRUE(ring.equal(left, right));
    EXPECT_EQ(left.exponent, right.exponent);
    EXPECT_NEAR(left.real, right.real, 1e-12);
    EXPECT_TRUE(ring.equal(ring.mul(ring.div(a, ring.add(c, ring.integer(9))), ring.add(c, ring.integer(9))), a));
  }
  EXPECT_EQ(ring.whole(ring.integer(-5)), -5);
  EXPECT_FALSE(ring.whole(ring.ratio(1, 3)));
  EXPECT_TRUE(ring.equal(ring.add(ring.number(1.0 / 6), ring.number(1.0 / 3)), ring.ratio(1, 2)));
}

TEST(PrimeRing, SumsOfManyProducts) {
  PrimeRing ring(7);
  PrimeRing::Sum sum(ring);
  auto slow = ring.zero();
  for (int64_t k = 0; k < 1000; ++k) {
    const auto a = ring.neg(ring.integer(k + 1)), b = ring.ratio(k, 7);  // residues close to p
    sum.add_product(a, b);
    sum.add(b);
    slow = ring.add(ring.add(slow, ring.mul(a, b)), b);
  }
  const auto fast = sum.finish();
  EXPECT_EQ(fast.field, slow.field);
  EXPECT_EQ(fast.exponent, slow.exponent);
}

TEST(PrimeRing, FunctionsKeepTheirLaws) {
  PrimeRing ring(7);
  const auto x = ring.ratio(3, 4), y = ring.ratio(-2, 5), one = ring.integer(1);
  const auto f = [&](Fn fn, const PrimeValue& v) { return ring.apply(fn, v); };
  EXPECT_TRUE(ring.equal(f(Fn::exp, ring.add(x, y)), ring.mul(f(Fn::exp, x), f(Fn::exp, y))));
  EXPECT_NE(f(Fn::exp, one).field, 1u);
  EXPECT_TRUE(ring.equal(f(Fn::tanh, ring.neg(x)), ring.neg(f(Fn::tanh, x))));
  EXPECT_TRUE(ring.equal(f(Fn::sigmoid, ring.neg(x)), ring.sub(one, f(Fn::sigmoid, x))));
  EXPECT_TRUE(ring.equal(f(Fn::erf, ring.neg(x)), ring.neg(f(Fn::erf, x))));
  EXPECT_TRUE(ring.equal(f(Fn::sqrt, ring.mul(x, x)), ring.mul(f(Fn::sqrt, x), f(Fn::sqrt, x))));
  EXPECT_FALSE(ring.equal(f(Fn::erf, x), f(Fn::erf, y)));
  EXPECT_NEAR(f(Fn::sigmoid, y).real, 1 / (1 + std::exp(0.4)), 1e-12);
  EXPECT_FALSE(std::isfinite(f(Fn::sqrt, y).real));
}

TEST(PrimeRing, LogarithmsOfExponentials) {
  PrimeRing ring(7);
  const auto f = [&](Fn fn, const PrimeValue& v) { return ring.apply(fn, v); };
  for (const auto& x : {ring.ratio(3, 4), ring.ratio(-2, 5)}) {
    const auto plus = f(Fn::softplus, x), u = ring.add(ring.integer(1), f(Fn::exp, x)), square = ring.mul(u, u);
    EXPECT_TRUE(ring.equal(f(Fn::log, u), plus));
    EXPECT_TRUE(ring.equal(f(Fn::log, f(Fn::exp, x)), x));
    EXPECT_TRUE(ring.equal(plus, ring.add(x, f(Fn::softplus, ring.neg(x)))));
    EXPECT_TRUE(
        ring.equal(f(Fn::tanh, plus), ring.div(ring.sub(square, ring.integer(1)), ring.add(square, ring.integer(1)))));
    EXPECT_FALSE(ring.equal(f(Fn::round, x), f(Fn::floor, x)));
  }
}

TEST(PrimeRing, OrderIsThatOfTheReals) {
  PrimeRing ring(7);
  const std::array items{ring.ratio(1, 3), ring.ratio(1, 2), ring.ratio(-7, 2)};
  EXPECT_EQ(ring.maximum(items).field, ring.ratio(1, 2).field);
  EXPECT_EQ(ring.minimum(items).field, ring.ratio(-7, 2).field);
  EXPECT_FALSE(ring.ambiguous());
  PrimeValue near = items[0];
  near.field ^= 1;
  const std::array close{items[0], near};
  ring.maximum(close);
  EXPECT_TRUE(ring.ambiguous());
}

class Poly : public testing::Test {
 protected:
  P max(std::initializer_list<P> items) { return ring.maximum(std::span<const P>(items.begin(), items.size())); }
  P relu(P a) { return max({a, ring.zero()}); }
  P number(int64_t n) { return ring.integer(n); }
  PolyRing ring;
  P x = ring.variable(1), y = ring.variable(2), z = ring.variable(3);
};

TEST_F(Poly, RingLaws) {
  EXPECT_EQ(ring.mul(ring.add(x, y), z), ring.add(ring.mul(z, y), ring.mul(x, z)));
  EXPECT_EQ(ring.sub(ring.add(x, y), y), x);
  EXPECT_EQ(ring.mul(ring.add(x, y), ring.sub(x, y)), ring.sub(ring.mul(x, x), ring.mul(y, y)));
  EXPECT_EQ(ring.mul(x, ring.zero()), ring.zero());
  EXPECT_EQ(ring.mul(ring.ratio(1, 6), number(3)), ring.number(0.5));
  EXPECT_EQ(ring.whole(ring.mul(ring.ratio(4, 3), number(6))), 8);
  EXPECT_NE(x, y);
  EXPECT_EQ(ring.power(ring.add(x, y), number(2)), ring.mul(ring.add(x, y), ring.add(x, y)));
}

TEST_F(Poly, MaximaAreSetsUpToShiftAndPositiveFactor) {
  EXPECT_EQ(max({x, max({y, z})}), max({max({x, y}), z}));
  EXPECT_EQ(relu(relu(x)), relu(x));
  EXPECT_EQ(relu(ring.mul(number(2), x)), ring.mul(number(2), relu(x)));
  EXPECT_NE(relu(ring.neg(x)), ring.neg(relu(x)));
  EXPECT_EQ(max({ring.add(x, z), ring.add(y, z)}), ring.add(z, max({x, y})));
  EXPECT_EQ(ring.sub(relu(x), relu(ring.neg(x))), x);
  EXPECT_EQ(max({number(3), ring.number(-0.5)}), number(3));
  EXPECT_EQ(relu(max({x, y})), max({relu(x), relu(y)}));
  const std::array<P, 2> pair{x, y};
  EXPECT_EQ(ring.add(ring.minimum(pair), max({x, y})), ring.add(x, y));
  EXPECT_NE(ring.mul(relu(x), relu(x)), ring.mul(x, relu(x)));  // not seen, as the header states
}

TEST_F(Poly, ExponentialsAndQuotients) {
  const auto e = [&](P a) { return ring.apply(Fn::exp, a); };
  EXPECT_EQ(ring.mul(e(x), e(y)), e(ring.add(x, y)));
  EXPECT_EQ(e(ring.zero()), number(1));
  EXPECT_EQ(ring.div(ring.mul(x, y), y), x);
  // softmax does not see a shift
  const P sum = ring.add(e(x), e(y)), shifted = ring.add(e(ring.add(x, z)), e(ring.add(y, z)));
  EXPECT_EQ(ring.div(e(ring.add(x, z)), shifted), ring.div(e(x), sum));
  EXPECT_NE(ring.div(e(ring.add(x, z)), sum), ring.div(e(x), sum));
  EXPECT_EQ(ring.div(x, ring.number(1.41421356)), ring.mul(x, ring.number(0.70710678)));
}

TEST(PrimeRing, LogarithmsOfQuotientsOfExponentials) {
  PrimeRing ring(7);
  const auto f = [&](Fn fn, const PrimeValue& v) { return ring.apply(fn, v); };
  const auto x = ring.ratio(3, 4), y = ring.ratio(-2, 5), m = ring.ratio(1, 3);
  const auto whole = ring.add(ring.add(f(Fn::exp, x), f(Fn::exp, y)), ring.integer(1));
  const auto quotient = ring.div(f(Fn::exp, x), whole);
  EXPECT_TRUE(ring.equal(f(Fn::log, quotient), ring.sub(x, f(Fn::log, whole))));
  const auto shifted = ring.add(f(Fn::exp, ring.sub(x, m)), f(Fn::exp, ring.sub(y, m)));
  const auto plain = ring.add(f(Fn::exp, x), f(Fn::exp, y));
  EXPECT_TRUE(ring.equal(f(Fn::log, shifted), ring.sub(f(Fn::log, plain), m)));
  EXPECT_NEAR(f(Fn::log, shifted).real, std::log(shifted.real), 1e-12);
  EXPECT_FALSE(ring.equal(f(Fn::log, plain), ring.add(x, y)));
  EXPECT_FALSE(ring.equal(f(Fn::log, whole), f(Fn::log, plain)));
}

TEST_F(Poly, LogarithmsOfQuotientsOfExponentials) {
  const auto f = [&](Fn fn, P a) { return ring.apply(fn, a); };
  const P e = f(Fn::exp, x), sum = ring.add(ring.add(e, f(Fn::exp, y)), number(2));
  EXPECT_EQ(f(Fn::log, ring.div(e, sum)), ring.sub(x, f(Fn::log, sum)));
  EXPECT_EQ(f(Fn::log, ring.mul(e, sum)), ring.add(x, f(Fn::log, sum)));
  EXPECT_NE(f(Fn::log, ring.mul(x, sum)), ring.add(f(Fn::log, x), f(Fn::log, sum)));  // x may be negative
}

TEST_F(Poly, PowersOfQuarters) {
  const auto power = [&](double exponent) { return ring.power(x, ring.number(exponent)); };
  const P root = ring.apply(Fn::sqrt, x), fourth = ring.apply(Fn::sqrt, root);
  EXPECT_EQ(power(0.25), fourth);
  EXPECT_EQ(power(0.75), ring.mul(root, fourth));
  EXPECT_EQ(power(-1.5), ring.div(number(1), ring.mul(x, root)));
  EXPECT_EQ(power(1.25), ring.mul(x, fourth));
  EXPECT_NE(power(0.75), fourth);
}

TEST_F(Poly, SoftplusAndQuotientsOfQuotients) {
  const auto f = [&](Fn fn, P a) { return ring.apply(fn, a); };
  EXPECT_EQ(f(Fn::log, ring.add(number(1), f(Fn::exp, x))), f(Fn::softplus, x));
  EXPECT_EQ(f(Fn::softplus, ring.neg(x)), ring.sub(f(Fn::softplus, x), x));
  EXPECT_EQ(f(Fn::softplus, max({x, y})), max({f(Fn::softplus, x), f(Fn::softplus, y)}));
  const P e = f(Fn::exp, x), n = ring.mul(e, ring.add(e, number(2)));
  EXPECT_EQ(f(Fn::tanh, f(Fn::softplus, x)), ring.div(n, ring.add(n, number(2))));
  EXPECT_EQ(ring.div(y, ring.add(number(1), ring.div(number(2), n))), ring.mul(y, f(Fn::tanh, f(Fn::softplus, x))));
  EXPECT_NE(f(Fn::sin, ring.neg(x)), f(Fn::sin, x));
  EXPECT_NE(f(Fn::ceil, max({x, y})), max({f(Fn::ceil, x), f(Fn::ceil, y)}));  // no laws
}

TEST_F(Poly, FunctionsAreOddAndCommuteWithMaxima) {
  for (Fn fn : {Fn::tanh, Fn::erf}) {
    EXPECT_EQ(ring.apply(fn, ring.neg(x)), ring.neg(ring.apply(fn, x)));
    EXPECT_EQ(ring.apply(fn, max({x, y})), max({ring.apply(fn, y), ring.apply(fn, x)}));
    EXPECT_EQ(ring.apply(fn, relu(x)), relu(ring.apply(fn, x)));
  }
  EXPECT_EQ(ring.apply(Fn::sigmoid, ring.sub(x, y)), ring.sub(number(1), ring.apply(Fn::sigmoid, ring.sub(y, x))));
  EXPECT_NE(ring.apply(Fn::sigmoid, relu(x)), relu(ring.apply(Fn::sigmoid, x)));
}

TEST(PolyLimits, GivesUpInsteadOfGrowing) {
  PolyRing small(50);
  P sum = 0;
  for (uint64_t k = 0; k < 20; ++k) sum = small.add(sum, small.variable(k));
  small.mul(sum, sum);
  EXPECT_TRUE(small.failed());
  PolyRing huge;
  P value = huge.ratio(1, 3);
  for (int k = 0; k < 8; ++k) value = huge.mul(value, value);
  EXPECT_TRUE(huge.failed());  // 3^-256 does not fit
}

}  // namespace
}  // namespace rlgo::rulegen

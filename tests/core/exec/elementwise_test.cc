#include <cmath>
#include <limits>

#include "tests/core/exec/calls.h"

namespace rlgo::exec {
namespace {

TEST(ElementwiseKernel, BinaryByHand) {
  const auto a = numbers({1, -2, 3, 8}, {2, 2}), b = numbers({2, 4}, {2});
  expect_values(call(Op::add, {a, b}), {3, 2, 5, 12});
  expect_values(call(Op::sub, {a, b}), {-1, -6, 1, 4});
  expect_values(call(Op::mul, {a, b}), {2, -8, 6, 32});
  expect_values(call(Op::div, {a, b}), {0.5, -0.5, 1.5, 2});
  expect_values(call(Op::min, {a, b}), {1, -2, 2, 4});
  expect_values(call(Op::max, {a, b}), {2, 4, 3, 8});
  expect_values(call(Op::pow, {a, b}), {1, 16, 9, 4096});
}

TEST(ElementwiseKernel, ActivationsByHand) {
  const auto x = numbers({-100, -1, 0, 1, 100}, {5});
  const double e = std::exp(-1.0), softplus = std::log(1 + std::exp(1.0)), low = std::log1p(e);
  expect_values(call(Op::softplus, {x}), {0, low, std::log(2.0), softplus, 100});
  expect_values(call(Op::elu, {x}, {{Attr::alpha, 0.5}}), {-0.5, 0.5 * (e - 1), 0, 1, 100});
  expect_values(call(Op::selu, {x}, {{Attr::alpha, 0.5}, {Attr::gamma, 2.0}}), {-1, e - 1, 0, 2, 200});
  const double celu = 2 * (std::exp(-0.5) - 1);
  expect_values(call(Op::celu, {x}, {{Attr::alpha, 2.0}}), {-2, celu, 0, 1, 100});
  expect_values(call(Op::mish, {x}), {0, -std::tanh(low), 0, std::tanh(softplus), 100});
  const double gate = 1 / (1 + std::exp(-2.0));
  expect_values(call(Op::swish, {x}, {{Attr::alpha, 2.0}}), {0, gate - 1, 0, gate, 100});
  expect_values(call(Op::softsign, {x}), {-100.0 / 101, -0.5, 0, 0.5, 100.0 / 101});
  expect_values(call(Op::thresholded_relu, {x}), {0, 0, 0, 0, 100});
  expect_values(call(Op::reciprocal, {numbers({-4, 0.5}, {2})}), {-0.25, 2});
}

TEST(ElementwiseKernel, RoundingAndRests) {
  const auto x = numbers({-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.25}, {7});
  expect_values(call(Op::round, {x}), {-2, -2, 0, 0, 0, 2, 2});
  expect_values(call(Op::ceil, {x}), {-2, -1, 0, 0, 1, 2, 3});
  expect_values(call(Op::floor, {x}), {-3, -2, -1, 0, 0, 1, 2});
  expect_values(call(Op::sign, {x}), {-1, -1, -1, 0, 1, 1, 1});
  const auto a = integers({-7, 7, -7, 7}, {4}), b = integers({3, -3, -3, 3}, {4});
  expect_values(call(Op::mod, {a, b}), {2, -2, -1, 1});
  expect_values(call(Op::mod, {a, b}, {{Attr::fmod, int64_t{1}}}), {-1, 1, -1, 1});
  expect_values(call(Op::mod, {numbers({-7.5}, {1}), numbers({2}, {1})}, {{Attr::fmod, int64_t{1}}}), {-1.5});
  const int64_t least = std::numeric_limits<int64_t>::min();
  expect_values(call(Op::mod, {integers({least}, {1}), integers({-1}, {1})}), {0});
}

TEST(ElementwiseKernel, IntegersDivideTowardsZero) {
  expect_values(call(Op::div, {integers({7, -7, 6}, {3}), integers({2, 2, -4}, {3})}), {3, -3, -1});
  expect_values(call(Op::max, {integers({7, -7}, {2}), integers({0}, {})}), {7, 0});
}

TEST(ElementwiseKernel, SmallestIntegerOverMinusOneWrapsAround) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const auto out = call(Op::div, {integers({least, 7, 6}, {3}), integers({-1, -1, -4}, {3})});
  EXPECT_TRUE(at::equal(out, integers({least, -7, -1}, {3})));
}

// LibTorch has no kernels for these types.
TEST(ElementwiseKernel, UnsignedNumbersOfMoreThanEightBits) {
  for (const auto type : {at::kUInt16, at::kUInt32, at::kUInt64}) {
    const auto a = integers({7, 40000, 5}, {3}).to(type), b = integers({6, 50000, 5}, {3}).to(type);
    expect_values(call(Op::max, {a, b}), {7, 50000, 5});
    expect_values(call(Op::min, {a, b}), {6, 40000, 5});
    expect_values(call(Op::less, {a, b}), {0, 1, 0});
    EXPECT_EQ(call(Op::div, {a, b}).scalar_type(), type);
  }
  const auto large = integers({-1}, {1}).to(at::kUInt64);
  EXPECT_THROW(call(Op::max, {large, large}), Error);
}

TEST(ElementwiseKernel, UnaryByHand) {
  const auto x = numbers({-4, -0.5, 0, 0.25, 4}, {5});
  expect_values(call(Op::relu, {x}), {0, 0, 0, 0.25, 4});
  expect_values(call(Op::neg, {x}), {4, 0.5, 0, -0.25, -4});
  expect_values(call(Op::abs, {x}), {4, 0.5, 0, 0.25, 4});
  expect_values(call(Op::prelu, {x, numbers({0.1}, {1})}), {-0.4, -0.05, 0, 0.25, 4});
  expect_values(call(Op::leaky_relu, {x}, {{Attr::alpha, 0.1}}), {-0.4, -0.05, 0, 0.25, 4});
  expect_values(call(Op::clip, {x}, {{Attr::min, -1.0}, {Attr::max, 0.1}}), {-1, -0.5, 0, 0.1, 0.1});
  expect_values(call(Op::clip, {x}, {}), {-4, -0.5, 0, 0.25, 4});
  expect_values(call(Op::hard_sigmoid, {x}), {0, 0.4, 0.5, 0.55, 1});
  expect_values(call(Op::hard_swish, {x}), {0, -0.5 * (2.5 / 6), 0, 0.25 * (3.25 / 6), 4});
}

TEST(ElementwiseKernel, TranscendentalAgainstTheStandardLibrary) {
  const std::vector<double> xs{-2.5, -0.5, 0.0, 0.75, 3.0};
  const auto x = numbers(xs, {5});
  const auto of = [&](auto f) {
    std::vector<double> ys;
    for (double v : xs) ys.push_back(f(v));
    return ys;
  };
  expect_values(call(Op::sigmoid, {x}), of([](double v) { return 1 / (1 + std::exp(-v)); }));
  expect_values(call(Op::tanh, {x}), of([](double v) { return std::tanh(v); }));
  expect_values(call(Op::erf, {x}), of([](double v) { return std::erf(v); }));
  expect_values(call(Op::exp, {x}), of([](double v) { return std::exp(v); }), 1e-5);
  expect_values(call(Op::gelu, {x}), of([](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }));
  const auto tanh_form =
      of([](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); });
  expect_values(call(Op::gelu, {x}, {{Attr::approximate, std::string("tanh")}}), tanh_form);
  expect_values(call(Op::sqrt, {numbers({0, 4}, {2})}), {0, 2});
  expect_values(call(Op::log, {numbers({1, 7.5}, {2})}), {0, std::log(7.5)});
}

TEST(ElementwiseKernel, ActivationWordsEqualTheOperators) {
  const auto x = numbers({-4, -0.5, 0, 0.25, 4}, {5});
  for (const auto& [word, op] : std::vector<std::pair<std::string, Op>>{{"relu", Op::relu},
                                                                        {"sigmoid", Op::sigmoid},
                                                                        {"tanh", Op::tanh},
                                                                        {"gelu", Op::gelu},
                                                                        {"hard_swish", Op::hard_swish}}) {
    at::Tensor y = x.clone();
    activate_in_place(y, word);
    expect_near(y, call(op, {x}));
  }
  at::Tensor y = x.clone();
  activate_in_place(y, "none");
  expect_near(y, x);
  EXPECT_THROW(activate_in_place(y, "swish"), Error);
}

}  // namespace
}  // namespace rlgo::exec

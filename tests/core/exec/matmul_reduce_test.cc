#include <cmath>

#include "tests/core/exec/calls.h"

namespace rlgo::exec {
namespace {

TEST(MatmulKernel, ByHand) {
  const auto a = numbers({1, 2, 3, 4}, {2, 2}), b = numbers({1, 0, -1, 2}, {2, 2});
  expect_values(call(Op::matmul, {a, b}), {-1, 4, -1, 8});
  expect_values(call(Op::matmul, {a, b, numbers({10, 20}, {2})}), {9, 24, 9, 28});
  expect_values(call(Op::matmul, {a, b, numbers({10, 20}, {2, 1})}), {9, 14, 19, 28});
  expect_values(call(Op::matmul, {a, b, numbers({-2}, {})}, {{Attr::act, std::string("relu")}}), {0, 2, 0, 6});
  expect_values(call(Op::matmul, {a, b, numbers({1, 2, 3, 4}, {2, 2})}), {0, 6, 2, 12});
}

TEST(MatmulKernel, BroadcastBatchesAgainstLoops) {
  at::manual_seed(3);
  const auto a = at::randn({2, 1, 3, 4}), b = at::randn({5, 4, 2}), bias = at::randn({5, 1, 2});
  const auto out = call(Op::matmul, {a, b, bias});
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 5; ++j)
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t c = 0; c < 2; ++c) {
          double sum = bias[j][0][c].item<double>();
          for (int64_t k = 0; k < 4; ++k) sum += a[i][0][r][k].item<double>() * b[j][k][c].item<double>();
          EXPECT_NEAR(out[i][j][r][c].item<double>(), sum, 1e-5);
        }
}

TEST(MatmulKernel, SumOverNothingIsTheBias) {
  expect_values(call(Op::matmul, {at::zeros({2, 0}), at::zeros({0, 2}), numbers({1, 2}, {2})}), {1, 2, 1, 2});
  expect_values(call(Op::matmul, {at::zeros({3, 2, 0}), at::zeros({0, 1})}), {0, 0, 0, 0, 0, 0});
  expect_values(call(Op::matmul, {at::zeros({1, 2, 0}), at::zeros({1, 0, 1})}), {0, 0});
}

TEST(ReduceKernel, ByHand) {
  const auto x = numbers({1, 2, 3, 4, 5, 9}, {2, 3});
  expect_values(call(Op::reduce_mean, {x}, {{Attr::axes, Ints{1}}}), {2, 6});
  expect_values(call(Op::reduce_sum, {x}, {{Attr::axes, Ints{0}}, {Attr::keepdims, int64_t{0}}}), {5, 7, 12});
  expect_values(call(Op::reduce_max, {x}, {{Attr::axes, Ints{0, 1}}}), {9});
  expect_values(call(Op::reduce_sum, {at::zeros({0, 2})}, {{Attr::axes, Ints{0}}}), {0, 0});
}

TEST(ReduceKernel, OtherReductionsByHand) {
  const auto x = numbers({3, -4, 1, 2}, {2, 2});
  const Attrs rows{{Attr::axes, Ints{1}}};
  expect_values(call(Op::reduce_min, {x}, rows), {-4, 1});
  expect_values(call(Op::reduce_prod, {x}, {{Attr::axes, Ints{0, 1}}, {Attr::keepdims, int64_t{0}}}), {-24});
  expect_values(call(Op::reduce_l1, {x}, rows), {7, 3});
  expect_values(call(Op::reduce_l2, {x}, rows), {5, std::sqrt(5.0)});
  expect_values(call(Op::reduce_sum_square, {x}, rows), {25, 5});
  expect_values(call(Op::reduce_log_sum, {at::abs(x)}, rows), {std::log(7.0), std::log(3.0)});
  expect_values(call(Op::reduce_log_sum_exp, {numbers({100, 100, 0, 0}, {2, 2})}, rows),
                {100 + std::log(2.0), std::log(2.0)});
}

TEST(ReduceKernel, PlacesOfEqualExtremes) {
  const auto x = numbers({2, 5, 5, 1, 1, 3}, {2, 3});
  const auto at = [](int64_t last) {
    return Attrs{{Attr::axis, int64_t{1}}, {Attr::keepdims, int64_t{0}}, {Attr::select_last, last}};
  };
  expect_values(call(Op::arg_max, {x}, at(0)), {1, 2});
  expect_values(call(Op::arg_max, {x}, at(1)), {2, 2});
  expect_values(call(Op::arg_min, {x}, at(0)), {0, 0});
  expect_values(call(Op::arg_min, {x}, at(1)), {0, 1});
}

TEST(ReduceKernel, NormsByHand) {
  const auto two = numbers({2, 10}, {2}), one = numbers({1, 0}, {2});
  const auto x = numbers({1, 3, 4, 4}, {1, 2, 2});
  const Attrs eps{{Attr::eps, 3.0}};
  expect_values(call(Op::instance_norm, {x, two, one}, eps), {0, 2, 0, 0});
  const Attrs groups{{Attr::eps, 3.0}, {Attr::group, int64_t{2}}};
  expect_values(call(Op::group_norm, {x, two, one}, groups), {0, 2, 0, 0});
  const Attrs rms{{Attr::axis, int64_t{1}}, {Attr::eps, 0.5}};
  expect_values(call(Op::rms_norm, {numbers({3, 4}, {1, 2}), two}, rms), {6 / std::sqrt(13.0), 40 / std::sqrt(13.0)});
  const auto rows = numbers({3, -4, 0, 0}, {2, 2});
  const Attrs axis{{Attr::axis, int64_t{1}}};
  expect_values(call(Op::lp_norm, {rows}, axis), {0.6, -0.8, 0, 0});
  expect_values(call(Op::lp_norm, {rows}, {{Attr::axis, int64_t{1}}, {Attr::order, int64_t{1}}}),
                {3.0 / 7, -4.0 / 7, 0, 0});
  expect_values(call(Op::log_softmax, {numbers({0, std::log(3.0)}, {1, 2})}, axis), {std::log(0.25), std::log(0.75)});
}

TEST(ReduceKernel, SoftmaxByHand) {
  const auto x = numbers({0, std::log(3.0), 100, 100}, {2, 2});
  expect_values(call(Op::softmax, {x}, {{Attr::axis, int64_t{1}}}), {0.25, 0.75, 0.5, 0.5});
  const auto over_rows = call(Op::softmax, {numbers({0, 5, std::log(4.0), 5}, {2, 2})}, {{Attr::axis, int64_t{0}}});
  expect_values(over_rows, {0.2, 0.5, 0.8, 0.5});
}

TEST(ReduceKernel, LayerNormByHand) {
  // Row 1 3: mean 2, variance 1; row 4 4: variance 0.
  const auto x = numbers({1, 3, 4, 4}, {2, 2}), scale = numbers({2, 10}, {2}), bias = numbers({1, 0}, {2});
  const Attrs attrs{{Attr::axis, int64_t{1}}, {Attr::eps, 3.0}};
  expect_values(call(Op::layer_norm, {x, scale, bias}, attrs), {-2 * 0.5 + 1, 10 * 0.5, 1, 0});
  expect_values(call(Op::layer_norm, {x, scale}, attrs), {-1, 5, 0, 0});
}

TEST(ReduceKernel, LayerNormOverSeveralAxes) {
  const auto x = numbers({1, 3, 5, 7}, {1, 2, 2}), ones = at::ones({2, 2});
  const double deviation = std::sqrt(5.0);
  expect_values(call(Op::layer_norm, {x, ones}, {{Attr::axis, int64_t{1}}, {Attr::eps, 0.0}}),
                {-3 / deviation, -1 / deviation, 1 / deviation, 3 / deviation});
}

TEST(ReduceKernel, BatchNormByHand) {
  const auto x = numbers({1, 2, 3, 4}, {1, 2, 2});
  const auto out =
      call(Op::batch_norm, {x, numbers({2, 1}, {2}), numbers({0, 5}, {2}), numbers({1, 3}, {2}), numbers({3, 0}, {2})},
           {{Attr::eps, 1.0}});
  expect_values(out, {0, 1, 5, 6});
}

}  // namespace
}  // namespace rlgo::exec

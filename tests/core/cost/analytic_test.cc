#include "core/cost/analytic.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/cost/graphs.h"

namespace rlgo::cost {
namespace {

const AnalyticOptions kRound{
    .peak_gflops = 100, .memory_gbytes_per_s = 10, .cache_gbytes_per_s = 50, .cache_bytes = 1000, .launch_us = 5};

double unary_us(Op op, ops::Shape shape, const ops::Attrs& attrs = {}, const AnalyticOptions& options = kRound) {
  Editor e("g");
  const Graph g = finished(e, e.op(op, {e.add_input("x", f32(std::move(shape)))}, attrs));
  return AnalyticCost(options).op_us(g, g.outputs()[0].value.node);
}

double conv_us(int64_t channels, int64_t out_channels, int64_t kernel, int64_t group, int64_t extent) {
  Editor e("g");
  const Value x = e.add_input("x", f32({1, channels, extent, extent}));
  const Value w = weight(e, {out_channels, channels / group, kernel, kernel});
  const int64_t pad = kernel / 2;
  const Graph g = finished(e, e.op(Op::conv2d, {x, w}, {{Attr::group, group}, {Attr::pads, Ints{pad, pad, pad, pad}}}));
  return AnalyticCost().op_us(g, g.outputs()[0].value.node);
}

double matmul_us(ops::Shape a, ops::Shape b) {
  Editor e("g");
  const Graph g =
      finished(e, e.op(Op::matmul, {e.add_input("a", f32(std::move(a))), e.add_input("b", f32(std::move(b)))}));
  return AnalyticCost().op_us(g, g.outputs()[0].value.node);
}

// 250 elements read and written: 1000 B at 50 GB/s and 1000 B at 10 GB/s.
TEST(AnalyticCost, MovedBytesByHand) {
  EXPECT_DOUBLE_EQ(unary_us(Op::relu, {250}), 5 + 1000 / 50e3 + 1000 / 10e3);
  EXPECT_DOUBLE_EQ(unary_us(Op::relu, {100}), 5 + 100 / (100e3 * 0.06));  // in the cache, where arithmetic takes longer
  EXPECT_DOUBLE_EQ(unary_us(Op::transpose, {25, 10}, {{Attr::perm, Ints{1, 0}}}),
                   5 + (1000 / 50e3 + 1000 / 10e3) / 0.4);
}

// 2 * 100^3 operations at 100 GFLOP/s x 0.65 x 100/104 x 100/132 x 100/108.
TEST(AnalyticCost, ArithmeticByHand) {
  Editor e("g");
  const Value x = e.add_input("x", f32({100, 100}));
  const Graph g = finished(e, e.op(Op::matmul, {x, weight(e, {100, 100})}));
  const double efficiency = 0.65 * (100 / 104.0) * (100 / 132.0) * (100 / 108.0);
  EXPECT_NEAR(AnalyticCost(kRound).op_us(g, g.outputs()[0].value.node), 5 + 2e6 / (100e3 * efficiency), 1e-9);
}

TEST(AnalyticCost, FreeNodesCostNothing) {
  EXPECT_EQ(unary_us(Op::reshape, {4, 8}, {{Attr::shape, Ints{32}}}), 0.0);
  AnalyticCost model;
  const Graph g = small_graph();
  EXPECT_EQ(model.op_us(g, only(g, Op::weight)), 0.0);
  EXPECT_EQ(model.op_us(g, only(g, Op::input)), 0.0);
  EXPECT_EQ(model.name(), "analytic");
}

// Of a ResNeXt block, as TASO (Jia et al. 2019) times it: 0.269 0.150 0.124 0.112 0.167 0.304 ms for groups 1, 2, 4, 8,
// 16, 32: the best is inside.
TEST(AnalyticCost, GroupedConvolutionsAreNotMonotoneInFlops) {
  const double one = conv_us(128, 128, 3, 1, 56), eight = conv_us(128, 128, 3, 8, 56),
               many = conv_us(128, 128, 3, 32, 56);
  EXPECT_LT(eight, 0.8 * one);
  EXPECT_GT(many, 1.2 * eight);
}

TEST(AnalyticCost, OneWideConvolutionBeatsTwoNarrowOnes) {
  EXPECT_LT(conv_us(16, 32, 1, 1, 14), 2 * conv_us(16, 16, 1, 1, 14));
  // Per multiply-add, 1x1 runs better than 5x5, and many channels better than three.
  EXPECT_LT(conv_us(1600, 64, 1, 1, 28), conv_us(64, 64, 5, 1, 28));
  EXPECT_GT(conv_us(3, 64, 1, 1, 56) / 3, conv_us(64, 64, 1, 1, 56) / 64);
}

TEST(AnalyticCost, AssociativityIsDecidedBySize) {
  // (A B) C against A (B C) for A[8,512], B[512,512], C[512,8].
  const double right = matmul_us({512, 512}, {512, 8}) + matmul_us({8, 512}, {512, 8});
  const double left_wide = matmul_us({512, 8}, {8, 512}) + matmul_us({512, 512}, {512, 8});
  EXPECT_LT(right, left_wide);
  EXPECT_LT(matmul_us({64, 64}, {64, 128}), 2 * matmul_us({64, 64}, {64, 64}));
}

TEST(AnalyticCost, BadOptionsAreErrors) {
  EXPECT_THROW(AnalyticCost({.peak_gflops = 0}), Error);
  EXPECT_THROW(AnalyticCost({.memory_gbytes_per_s = -1}), Error);
  EXPECT_THROW(AnalyticCost({.launch_us = std::numeric_limits<double>::quiet_NaN()}), Error);
  EXPECT_NO_THROW(AnalyticCost({.cache_bytes = 0, .launch_us = 0}));
}

}  // namespace
}  // namespace rlgo::cost

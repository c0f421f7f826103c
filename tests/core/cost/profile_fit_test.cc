#include "core/cost/profile_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/core/cost/graphs.h"

namespace rlgo::cost {
namespace {

using testing::Contains;
using testing::Not;

Graph product(int64_t rows, int64_t terms, int64_t columns) {
  Editor e("g");
  return finished(e, e.op(Op::matmul, {e.add_input("x", f32({rows, terms})), weight(e, {terms, columns})}));
}
Graph unary(Op op, int64_t elements) {
  Editor e("g");
  return finished(e, e.op(op, {e.add_input("x", f32({elements}))}));
}
Graph transposed(int64_t rows) {
  Editor e("g");
  return finished(e, e.op(Op::transpose, {e.add_input("x", f32({rows, 300}))}, {{Attr::perm, Ints{1, 0}}}));
}

// Matrix products, sigmoids and transposes of many sizes.
const std::vector<Graph>& operators() {
  static const std::vector<Graph> kAll = [] {
    std::vector<Graph> all;
    for (const int64_t rows : {1, 2, 7, 32, 200}) {
      for (const int64_t terms : {16, 100, 700}) {
        for (const int64_t columns : {8, 64, 500}) all.push_back(product(rows, terms, columns));
      }
    }
    for (int64_t n = 10; n < 20'000'000; n *= 3) {
      all.push_back(unary(Op::sigmoid, n));
      all.push_back(unary(Op::relu, n));
    }
    for (const int64_t rows : {1, 10, 100, 1000, 10'000}) all.push_back(transposed(rows));
    return all;
  }();
  return kAll;
}

std::vector<TimedOperator> timed_by(const AnalyticOptions& truth) {
  AnalyticCost prices(truth);
  std::vector<TimedOperator> out;
  for (const Graph& g : operators()) {
    const NodeId id = g.outputs()[0].value.node;
    out.push_back({&g, id, prices.op_us(g, id)});
  }
  return out;
}

AnalyticOptions other_machine() {
  AnalyticOptions truth;
  truth.peak_gflops = 40;
  truth.memory_gbytes_per_s = 7;
  truth.cache_gbytes_per_s = 30;
  truth.launch_us = 0.7;
  truth.half_rows = 9;
  truth.elementwise = 0.2;
  truth.stream_transpose = 0.15;
  return truth;
}

TEST(ProfileFit, FindsTheConstantsThatMadeTheTimes) {
  const auto found = fit_profile(timed_by(other_machine()), AnalyticOptions());
  EXPECT_NEAR(found.options.launch_us, 0.7, 0.01);
  EXPECT_NEAR(found.options.memory_gbytes_per_s, 7, 0.1);
  EXPECT_NEAR(found.options.stream_transpose, 0.15, 0.005);
  EXPECT_NEAR(found.options.half_rows, 9, 0.3);
  // The largest share that the times determine, of matmul, stays 0.65: the peak is 40.
  EXPECT_NEAR(found.options.peak_gflops, 40, 0.5);
  EXPECT_NEAR(found.options.elementwise, 0.2, 0.005);
}

TEST(ProfileFit, WhatTheTimesDoNotShowIsKeptAndNamed) {
  const auto found = fit_profile(timed_by(other_machine()), AnalyticOptions());
  EXPECT_THAT(found.kept, Contains("arithmetic.conv_1x1"));
  EXPECT_THAT(found.kept, Contains("half.group_channels"));
  EXPECT_THAT(found.kept, Not(Contains("arithmetic.matmul")));
  EXPECT_EQ(found.options.conv_1x1, 0.8);
  EXPECT_EQ(found.options.half_outputs, 0);
}

TEST(ProfileFit, AHundredfoldMistakeMovesNothing) {
  auto timed = timed_by(other_machine());
  timed[20].us *= 100;
  EXPECT_NEAR(fit_profile(timed, AnalyticOptions()).options.memory_gbytes_per_s, 7, 0.2);
}

TEST(ProfileFit, NumbersHaveFourDigits) {
  const auto found = fit_profile(timed_by(other_machine()), AnalyticOptions());
  EXPECT_DOUBLE_EQ(found.options.launch_us * 1e4, std::round(found.options.launch_us * 1e4));
}

TEST(ProfileFit, RefusesTimesOfNothingAndTooFewOperators) {
  auto timed = timed_by(AnalyticOptions());
  timed.resize(5);
  EXPECT_THROW(fit_profile(timed, AnalyticOptions()), Error);
  timed = timed_by(AnalyticOptions());
  timed[3].us = 0;
  EXPECT_THROW(fit_profile(timed, AnalyticOptions()), Error);
}

}  // namespace
}  // namespace rlgo::cost

// Which candidate is checked next. What a check takes is counted in operations: no clock is asked.
#include "core/optimise/acceptance.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/graph/editor.h"

namespace rlgo::optimise {
namespace {

constexpr double kAnyEffort = std::numeric_limits<double>::infinity();

// So many sums of 1,000 elements each, and so many bytes of weights.
graph::Graph sums(int count, int64_t bytes = 4) {
  graph::Editor e("g");
  graph::Value x = e.add_input("x", {ops::DType::f32, {1000}});
  for (int k = 0; k < count; ++k) x = e.op(ops::Op::add, {x, x});
  const ops::TensorType type(ops::DType::f32, {bytes / 4, 1});
  const graph::Value weight = e.add_weight("w", graph::Blob::absent(type, 1));
  e.add_output("y", e.op(ops::Op::add, {x, weight}));
  return *e.finish();
}

Candidate candidate(const char* name, graph::Graph graph, double cost_us, double ratio = 0) {
  return {.name = name, .graph = std::move(graph), .cost_us = cost_us, .file = "there.onnx", .ratio = ratio};
}

std::vector<Candidate> candidates() {
  return {candidate("no rewrites", sums(1000), 1000), candidate("heavy", sums(900), 500),
          candidate("as heavy", sums(890), 510), candidate("cheap", sums(100), 900),
          candidate("dear", sums(100), 1100)};
}

TEST(NextBest, OfAllTheFastestThatNothingIsSaidAgainst) {
  auto some = candidates();
  EXPECT_EQ(next_best(some, kAnyEffort), 1u);
  some[1].error = "given up";
  EXPECT_EQ(next_best(some, kAnyEffort), 2u);
  some[3].ratio = 0.9;
  EXPECT_EQ(next_best(some, kAnyEffort), 3u);
  some[3].file.clear();
  some[2].error = "given up";
  EXPECT_EQ(next_best(some, kAnyEffort), 0u);  // the last one costs more than the model
}

// What took too long is followed by what is cheaper to check, not by one that takes as long, nor by nothing.
TEST(NextBest, WhereTimeIsShortACheaperOne) {
  auto some = candidates();
  const double effort = effort_of(some[1]);
  some[1].error = "not checked in time";
  EXPECT_EQ(next_best(some, 0.8 * effort), 3u);
  EXPECT_EQ(next_best(some, 0.8 * effort_of(some[3])), 0u);
}

TEST(NextBest, WeightsAreAnEffortToo) {
  EXPECT_GT(effort_of(candidate("large", sums(10, 1 << 20), 1)), effort_of(candidate("deep", sums(100), 1)));
}

}  // namespace
}  // namespace rlgo::optimise

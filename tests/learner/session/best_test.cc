#include "learner/session/best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/rules/trace.h"

namespace rlgo::learner {
namespace {

using testing::ElementsAre;

constexpr int kNoOp = 2;

rules::TraceFile identity() {
  rules::TraceFile trace;
  trace.graph = "my model.onnx";
  trace.graph_hash = 0xfedcba9876543210;
  trace.rules_hash = 7;
  return trace;
}

// (rule, cost afterwards) for each step.
mdp::Trajectory episode(const std::vector<std::pair<int32_t, double>>& steps) {
  mdp::Trajectory t;
  for (const auto& [rule, cost] : steps) {
    mdp::Step step;
    step.action = {rule, 0};
    step.info.cost_us = cost;
    t.steps.push_back(step);
  }
  return t;
}

TEST(BestGraph, KeepsTheCheapestPrefixOfAnEpisode) {
  BestGraph best(identity(), 100);
  EXPECT_EQ(best.best_us(), 100);
  EXPECT_TRUE(best.trace().rewrites.empty());
  EXPECT_TRUE(best.offer(episode({{0, 110}, {1, 80}, {0, 90}, {kNoOp, 90}}), kNoOp));
  EXPECT_EQ(best.best_us(), 80);
  EXPECT_EQ(best.initial_us(), 100);
  EXPECT_THAT(best.trace().cost_us, ElementsAre(110, 80));
  ASSERT_EQ(best.trace().rewrites.size(), 2u);
  EXPECT_EQ(best.trace().rewrites[1].rule, 1);
  EXPECT_EQ(best.trace().graph, "my model.onnx");
}

TEST(BestGraph, OnlyACheaperEpisodeReplacesIt) {
  BestGraph best(identity(), 100);
  EXPECT_FALSE(best.offer(episode({}), kNoOp));
  EXPECT_FALSE(best.offer(episode({{0, 100}, {1, 101}}), kNoOp));
  EXPECT_FALSE(best.offer(episode({{kNoOp, 50}}), kNoOp));  // NO-OP changes no graph
  EXPECT_TRUE(best.offer(episode({{0, 60}}), kNoOp));
  EXPECT_FALSE(best.offer(episode({{0, 90}, {1, 60}}), kNoOp));  // as cheap, not cheaper
  EXPECT_THAT(best.trace().cost_us, ElementsAre(60));
}

// Its rewrites are those that the episode began with, then its own as traces name them.
TEST(BestGraph, AnEpisodeThatBeganElsewhereGoesOnFromThere) {
  BestGraph best(identity(), 100);
  mdp::Trajectory t = episode({{1, 70}});
  t.beginning = {0, {{0, 3}, {1, 4}}, {95, 90}};
  t.steps[0].action.location = 0;
  t.steps[0].info.location = 6;
  EXPECT_TRUE(best.offer(t, kNoOp));
  EXPECT_THAT(best.trace().cost_us, ElementsAre(95, 90, 70));
  ASSERT_EQ(best.trace().rewrites.size(), 3u);
  EXPECT_EQ(best.trace().rewrites[1].location, 4);
  EXPECT_EQ(best.trace().rewrites[2].location, 6);
}

TEST(BestGraph, AdoptsAStoredTraceOfTheSameGraphAndRules) {
  BestGraph best(identity(), 100);
  rules::TraceFile stored = identity();
  stored.rewrites = {{0, 3}};
  stored.cost_us = {70.125};
  best.adopt(stored);
  EXPECT_EQ(best.best_us(), 70.125);
  best.adopt(identity());  // an empty one: nothing was better than the start
  EXPECT_EQ(best.best_us(), 100);
  stored.rules_hash = 8;
  EXPECT_THROW(best.adopt(stored), Error);
  stored = identity();
  stored.graph_hash = 1;
  EXPECT_THROW(best.adopt(stored), Error);
}

// Below the unmodified graph with its error, whatever it costs; a timing that failed, or none, is nothing.
TEST(BestGraph, ByLatencyTheUpperEndOfTheIntervalDecides) {
  BestGraph best(identity(), 100, true);
  mdp::Trajectory t = episode({{0, 120}, {1, 130}, {0, 10}, {1, 10}});
  const auto timed = [&](size_t k, mdp::WholeTimed timing, double ratio, double error) {
    t.steps[k].info.timing = timing;
    t.steps[k].info.measured_ratio = ratio;
    t.steps[k].info.measured_error = error;
  };
  timed(0, mdp::WholeTimed::within_noise, 0.97, 0.05);
  timed(1, mdp::WholeTimed::shown, 0.9, 0.05);
  timed(2, mdp::WholeTimed::failed, 0, 0);
  EXPECT_TRUE(best.offer(t, kNoOp));
  EXPECT_THAT(best.trace().cost_us, ElementsAre(120, 130));
  EXPECT_DOUBLE_EQ(best.latency_bound(), 0.95);
  EXPECT_FALSE(best.offer(t, kNoOp));
}

TEST(BestGraph, BeforeAndAfterMayBePricedAnew) {
  BestGraph best(identity(), 100);
  EXPECT_TRUE(best.offer(episode({{0, 60}}), kNoOp));
  best.reprice(80);
  best.replace(best.trace().rewrites, {70});
  EXPECT_EQ(best.initial_us(), 80);
  EXPECT_EQ(best.best_us(), 70);
  best.replace({}, {});
  EXPECT_EQ(best.best_us(), 80);
}

}  // namespace
}  // namespace rlgo::learner

#include "launch/train/best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "launch/trace.h"

namespace rlgo::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kNoOp = 2;

std::shared_ptr<const rules::RuleSet> two_rules() {
  return rules::RuleSet::parse(
      "rule relu-twice\n  proof tested\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n\n"
      "rule relu-again\n  proof tested\n  ?y = (relu ?x)\n  => ?y = (relu (relu ?x))\n",
      "two.rules");
}

TraceFile identity() {
  TraceFile trace;
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

std::string error_of(const std::string& text) {
  try {
    parse_trace(text, "my.trace", *two_rules());
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

TEST(BestGraph, KeepsTheCheapestPrefixOfAnEpisode) {
  BestGraph best(identity(), 100);
  EXPECT_EQ(best.best_us(), 100);
  EXPECT_TRUE(best.trace().actions.empty());
  EXPECT_TRUE(best.offer(episode({{0, 110}, {1, 80}, {0, 90}, {kNoOp, 90}}), kNoOp));
  EXPECT_EQ(best.best_us(), 80);
  EXPECT_EQ(best.initial_us(), 100);
  EXPECT_THAT(best.trace().cost_us, ElementsAre(110, 80));
  ASSERT_EQ(best.trace().actions.size(), 2u);
  EXPECT_EQ(best.trace().actions[1].rule, 1);
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

TEST(BestGraph, AdoptsAStoredTraceOfTheSameGraphAndRules) {
  BestGraph best(identity(), 100);
  TraceFile stored = identity();
  stored.actions = {{0, 3}};
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

TEST(Trace, TextReadsBackExactly) {
  TraceFile trace = identity();
  trace.actions = {{0, 3}, {1, 0}};
  trace.cost_us = {20.06773053181386, 0.1};
  const std::string text = to_text(trace, *two_rules());
  EXPECT_THAT(text, HasSubstr("0\trelu-twice\t3\t20.06773053181386\n"));
  const TraceFile back = parse_trace(text, "t", *two_rules());
  EXPECT_EQ(back.graph, trace.graph);
  EXPECT_EQ(back.graph_hash, trace.graph_hash);
  EXPECT_EQ(back.rules_hash, trace.rules_hash);
  EXPECT_EQ(back.cost_us, trace.cost_us);
  ASSERT_EQ(back.actions.size(), 2u);
  EXPECT_EQ(back.actions[0].location, 3);
  EXPECT_EQ(back.actions[1].rule, 1);
}

TEST(Trace, RulesAreFoundByNameNotByNumber) {
  const auto turned = rules::RuleSet::parse(
      "rule relu-again\n  proof tested\n  ?y = (relu ?x)\n  => ?y = (relu (relu ?x))\n\n"
      "rule relu-twice\n  proof tested\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n",
      "turned.rules");
  EXPECT_EQ(parse_trace("rlgo-trace 1\n0\trelu-twice\t0\t-\n", "t", *turned).actions[0].rule, 1);
}

TEST(Trace, CommentsBlankLinesAndMissingCostsAreFine) {
  const auto trace = parse_trace("rlgo-trace 1\r\n\n# comment\n0\trelu-again\t0\t-\n", "t", *two_rules());
  EXPECT_EQ(trace.actions.size(), 1u);
  EXPECT_EQ(trace.graph_hash, 0u);
}

TEST(Trace, ErrorsNameFileAndLine) {
  EXPECT_THAT(error_of(""), HasSubstr("my.trace:1: not a trace"));
  EXPECT_THAT(error_of("rlgo-trace 2\n"), HasSubstr("my.trace:1"));
  EXPECT_THAT(error_of("rlgo-trace 1\n0\trelu-twic\t0\t1\n"),
              HasSubstr("my.trace:2: unknown rule 'relu-twic' (did you mean 'relu-twice'?)"));
  EXPECT_THAT(error_of("rlgo-trace 1\n\n0\trelu-twice\t0\n"), HasSubstr("my.trace:3: 3 columns"));
  EXPECT_THAT(error_of("rlgo-trace 1\n0\trelu-twice\t-1\t1\n"), HasSubstr("'-1' is not a location"));
  EXPECT_THAT(error_of("rlgo-trace 1\n0\trelu-twice\t4294967296\t1\n"), HasSubstr("is not a location"));
  EXPECT_THAT(error_of("rlgo-trace 1\ncolour red\n"), HasSubstr("unknown key 'colour'"));
  EXPECT_THAT(error_of("rlgo-trace 1\ngraph_hash xyz\n"), HasSubstr("'xyz' is not a hash"));
}

}  // namespace
}  // namespace rlgo::launch

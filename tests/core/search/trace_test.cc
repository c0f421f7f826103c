#include "core/search/trace.h"

#include <gtest/gtest.h>

#include <array>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/zoo/zoo.h"

namespace rlgo::search {
namespace {

std::shared_ptr<const rules::RuleSet> shipped() {
  std::vector<std::filesystem::path> files;
  for (const char* file : rules::kShippedFiles) files.push_back(std::filesystem::path("configs/rules") / file);
  return rules::RuleSet::load(files);
}

class TraceTest : public testing::TestWithParam<std::string> {
 protected:
  double cost(const rules::Trace& trace) { return cost::graph_cost(cost_, replay(graph_, rules_, trace)).runtime_us; }
  rules::Trace minimal(const rules::Trace& trace) {
    return minimal_trace({graph_, rules_, cost_}, trace, 1 << 30, nullptr).trace;
  }
  rules::Trace random_trace(int length, uint64_t seed) {
    Rng rng({seed});
    rules::MatchIndex index(rules_, graph_);
    graph::Graph at = graph_;
    rules::Trace trace;
    while (static_cast<int>(trace.size()) < length) {
      const auto rule = static_cast<int32_t>(rng.below(static_cast<uint64_t>(rules_->size())));
      if (index.matches(rule).empty()) continue;
      trace.push_back({rule, static_cast<int32_t>(rng.below(index.matches(rule).size()))});
      auto made = rules::apply(*rules_, index.matches(rule)[static_cast<size_t>(trace.back().location)], at);
      at = std::move(made->graph);
      index.update(at, made->delta);
    }
    return trace;
  }

  std::shared_ptr<const rules::RuleSet> rules_ = shipped();
  cost::AnalyticCost cost_;
  graph::Graph graph_ = zoo::make(GetParam());
};

// Random rewrites, many of which undo one another (relu to clip, clip to relu).
TEST_P(TraceTest, NothingCanBeLeftOut) {
  const rules::Trace long_one = random_trace(60, 1);
  const rules::Trace trace = minimal(long_one);
  EXPECT_LT(trace.size(), long_one.size());
  EXPECT_LE(cost(trace), cost(long_one) * (1 + 1e-9));
  EXPECT_EQ(minimal(trace), trace);
}

TEST_P(TraceTest, WhatASearchFindsStaysAsCheap) {
  const Result found = run("anneal", {graph_, rules_, cost_}, {.budget = 20'000, .seed = 2});
  const rules::Trace trace = minimal(found.trace);
  EXPECT_LE(trace.size(), found.trace.size());
  EXPECT_LE(cost(trace), found.after_us * (1 + 1e-9));
}

TEST_P(TraceTest, PairsThatUndoOneAnotherGo) {
  const auto names = rules_->names();
  const auto rule = [&](const char* name) {
    return static_cast<int32_t>(std::ranges::find(names, name) - names.begin());
  };
  const rules::Trace pair{{rule("relu-to-clip"), 0}, {rule("clip-to-relu"), 0}};
  EXPECT_NO_THROW(replay(graph_, rules_, pair));
  EXPECT_TRUE(minimal(pair).empty());
}

TEST_P(TraceTest, WhatDoesNotApplyIsAnError) { EXPECT_THROW(minimal({{0, 100'000}}), Error); }

INSTANTIATE_TEST_SUITE_P(Zoo, TraceTest, testing::Values("squeezenet1_1", "resnet18"),
                         [](const auto& test) { return test.param; });

// A pair goes although what follows reads the node that it made: the node before the pair is there in its place.
TEST(Trace, PairsGoFromBelowWhatPays) {
  const auto rules = shipped();
  const graph::Graph graph = zoo::make("squeezenet1_1");
  cost::AnalyticCost cost;
  const auto names = rules->names();
  const auto rewrite = [&](const char* name) {
    return rules::Rewrite{static_cast<int32_t>(std::ranges::find(names, name) - names.begin()), 0};
  };
  const auto there = rewrite("relu-to-clip"), back = rewrite("clip-to-relu"), fuse = rewrite("fuse-conv-relu");
  const rules::Trace found{there, back, there, back, fuse};
  EXPECT_EQ(minimal_trace({graph, rules, cost}, found, 200, nullptr).trace, (rules::Trace{fuse}));
}

}  // namespace
}  // namespace rlgo::search

// Search by a learned cost on a small model, with a synthetic runtime.
#include "core/optimise/learned_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/cost/analytic.h"
#include "core/optimise/model.h"
#include "core/rules/rule_choice.h"

namespace rlgo::optimise {
namespace {

struct Fixture {
  LoadedModel model = load_model({.graph = "toy_conv"}, true);
  std::shared_ptr<const rules::RuleSet> rules = rules::choose_rules({"base"});
  cost::AnalyticCost prices;
  TimedGraphs kept{{"analytic", "paper", 1}};
  LearnedOptions options;
  int timed = 0, fails = 0;
  double left_s = 1e9;
  std::vector<std::pair<uint64_t, double>> asked;  // graphs that were timed, and against what

  // The fewer operators the faster, whatever prices predict.
  double time(const graph::Graph& graph) {
    if (++timed <= fails) fail("the runtime does not know it");
    return static_cast<double>(graph.size()) / static_cast<double>(model.graph.size());
  }
  LearnedSearch search() {
    LearnedParts parts = {.unmodified = model.graph, .rules = rules, .prices = prices};
    parts.search = [this](const std::string& method, const graph::Graph& from, cost::CostModel& cost, double) {
      return search::run(method, {from, rules, cost}, {.budget = 300});
    };
    parts.time = [this](const graph::Graph& graph, double against) {
      asked.emplace_back(graph.hash(), against);
      return time(graph);
    };
    parts.left_s = [this] { return left_s; };
    return {parts, kept, options, 1};
  }
};

TEST(LearnedSearch, EndsByItselfWithTheFastestItTimed) {
  Fixture f;
  auto search = f.search();
  search.run();
  const auto summary = search.summary();
  ASSERT_GT(summary.timed.size(), 0u);
  EXPECT_EQ(summary.ended_by, "no bound promises a gain");
  const auto fastest = search.fastest(1);
  ASSERT_EQ(fastest.size(), 1u);
  EXPECT_LT(fastest[0]->graph.size(), f.model.graph.size());
  EXPECT_EQ(summary.timed[summary.best_at - 1].ratio, search.predicted(fastest[0]->graph, fastest[0]->trace));
  EXPECT_EQ(f.kept.graphs().size(), summary.timed.size());
}

// Rewriting is exact: each graph is what its trace makes of the model.
TEST(LearnedSearch, TracesMakeTheirGraphs) {
  Fixture f;
  auto search = f.search();
  search.run();
  for (const Proposal* found : search.fastest(3))
    EXPECT_EQ(rules::replay(f.model.graph, f.rules, found->trace).hash(), found->graph.hash());
}

TEST(LearnedSearch, TimesNoMoreThanItMay) {
  Fixture f;
  f.options.graphs = 1;
  auto search = f.search();
  search.run();
  EXPECT_EQ(f.timed, 1);
  EXPECT_EQ(search.summary().ended_by, "--learned.graphs");
}

TEST(LearnedSearch, WithoutTimeItDoesNothing) {
  Fixture f;
  f.left_s = 0;
  auto search = f.search();
  search.run();
  EXPECT_EQ(f.timed, 0);
  EXPECT_EQ(search.summary().ended_by, "time is over");
}

// Of three graphs two are timed again, and one of them once more.
TEST(LearnedSearch, ABatchIsHalvedUntilOneIsLeft) {
  Fixture f;
  f.options.choice = "all";
  f.options.graphs = f.options.batch = 3;
  auto search = f.search();
  const rules::MatchIndex matches(f.rules, f.model.graph);
  for (int rule = 0; rule < f.rules->size(); ++rule) {
    if (matches.matches(rule).empty()) continue;
    search.offer({"one", rules::apply(*f.rules, matches.matches(rule)[0], f.model.graph)->graph, {{rule, 0}}});
  }
  search.run();
  std::map<uint64_t, int> times;
  for (const auto& [graph, against] : f.asked) ++times[graph];
  std::vector<int> counts;
  for (const auto& [graph, count] : times) counts.push_back(count);
  std::ranges::sort(counts);
  EXPECT_EQ(counts, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(search.summary().timed.size(), 3u);
  const uint64_t fastest = search.fastest(1)[0]->graph.hash();
  EXPECT_EQ(f.asked.back().first, fastest);
  EXPECT_EQ(times[fastest], 3);
}

TEST(LearnedSearch, GraphsThatCannotBeTimedAreLeftOut) {
  Fixture f;
  f.fails = 1;
  auto search = f.search();
  search.run();
  EXPECT_EQ(search.summary().timed.size(), static_cast<size_t>(f.timed - 1));
  EXPECT_EQ(search.summary().failed, 1u);
  EXPECT_EQ(search.summary().failure, "the runtime does not know it");
}

TEST(LearnedSearch, ARuntimeThatRefusesAllEndsIt) {
  Fixture f;
  f.fails = 1'000'000;
  auto search = f.search();
  search.run();
  EXPECT_TRUE(search.summary().timed.empty());
  EXPECT_TRUE(search.fastest(3).empty());
  EXPECT_TRUE(f.kept.graphs().empty());
  EXPECT_EQ(search.summary().failed, static_cast<size_t>(f.timed));
}

// The same graphs are found for the same seed, and so the same are timed where all are.
TEST(LearnedSearch, OneSeedTimesTheSameGraphs) {
  std::vector<std::string> names[2];
  for (auto& into : names) {
    Fixture f;
    f.options.choice = "all";
    f.options.graphs = 30;
    auto search = f.search();
    search.run();
    for (const auto& graph : search.summary().timed) into.push_back(graph.name);
  }
  EXPECT_GT(names[0].size(), 3u);
  EXPECT_EQ(names[0], names[1]);
}

TEST(LearnedSearch, AllEndsWhereNothingNewIsFound) {
  Fixture f;
  f.options.choice = "all";
  auto search = f.search();
  search.run();
  EXPECT_GT(f.timed, 3);
  EXPECT_EQ(search.summary().timed.size(), static_cast<size_t>(f.timed));
  EXPECT_EQ(search.summary().ended_by, "searches find nothing new");
}

TEST(LearnedSearch, EqualGraphsAreOfferedOnce) {
  Fixture f;
  auto search = f.search();
  EXPECT_FALSE(search.offer({"no rewrites", f.model.graph, {}}));
}

TEST(LearnedSearch, ASecondRunKnowsWhatTheFirstTimed) {
  Fixture f;
  auto first = f.search();
  first.run();
  const size_t known = f.kept.graphs().size();
  EXPECT_EQ(f.search().summary().known, known);
}

TEST(GraphFeatures, OfTheUnmodifiedGraphThereAreNone) {
  Fixture f;
  const GraphFeatures features(f.model.graph, f.prices);
  EXPECT_TRUE(features(f.model.graph, {}, *f.rules).empty());
}

TEST(LearnedCost, CorrectsPricesByKind) {
  Fixture f;
  const GraphFeatures features(f.model.graph, f.prices);
  // Convolutions take twice their price.
  const std::vector<cost::ResidualExample> examples = {{{{"price:conv2d", 0.5}}, 0.5},
                                                       {{{"price:conv2d", 0.25}}, 0.25}};
  LearnedCost learned(f.prices, features, cost::Residual(examples).mean());
  for (const auto id : f.model.graph.order()) {
    const double us = f.prices.op_us(f.model.graph, id);
    const bool conv = f.model.graph.node(id).op() == ops::Op::conv2d;
    EXPECT_NEAR(learned.op_us(f.model.graph, id), conv ? 2 * us : us, 0.02 * us + 0.001);
  }
}

}  // namespace
}  // namespace rlgo::optimise

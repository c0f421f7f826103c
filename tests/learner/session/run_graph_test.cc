#include "learner/session/run_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/usage.h"
#include "core/cost/analytic.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::learner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

optimise::ModelOptions named(const char* graph) {
  optimise::ModelOptions options;
  options.graph = graph;
  return options;
}

std::vector<RunGraph> toys() {
  auto graphs = load_graphs(named("toy_conv,toy_mlp"), false);
  double cost_us = 100;
  for (auto& graph : graphs) {
    static cost::AnalyticCost cost;
    begin(graph, rules::shipped_rules(), cost, {}, cost_us);
    cost_us *= 4;
  }
  return graphs;
}

TEST(RunGraphs, CommasNameSeveralAndNoneTwice) {
  const auto graphs = toys();
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_EQ(graphs[1].name, "toy_mlp");
  EXPECT_NE(graphs[0].model.graph.hash(), graphs[1].model.graph.hash());
  EXPECT_THAT([] { load_graphs(named("toy_conv, toy_conv"), false); }, ThrowsMessage<Error>(HasSubstr("named twice")));
  EXPECT_THAT([] { optimise::load_model(named("toy_conv,toy_mlp"), false); },
              ThrowsMessage<Error>(HasSubstr("one is taken here")));
}

TEST(RunGraphs, SeveralHaveFoldersOfTheirOwnOneTheRuns) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "rlgo_run_graphs";
  auto several = toys();
  make_folders(several, {folder});
  EXPECT_EQ(several[0].folder.path, folder / "toy_conv");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "toy_mlp"));
  auto one = load_graphs(named("toy_conv"), false);
  make_folders(one, {folder});
  EXPECT_EQ(one[0].folder.path, folder);
  std::filesystem::remove_all(folder);
}

TEST(RunGraphs, CostsAreGeometricMeans) {
  auto graphs = toys();  // 100 and 400 us
  graphs[0].best->replace({{0, 0}}, {25});
  EXPECT_NEAR(overall_cost(graphs).initial_us, 200, 1e-9);
  EXPECT_NEAR(overall_cost(graphs).best_us, 100, 1e-9);
}

TEST(RunGraphs, ACheckpointKeepsTheBestOfEach) {
  const auto rules = rules::shipped_rules();
  auto graphs = toys(), again = toys();
  const rules::MatchIndex index(rules, graphs[1].model.graph);
  int32_t rule = 0;
  while (index.matches(rule).empty()) ++rule;
  graphs[1].best->replace({{rule, 0}}, {300});
  Checkpoint checkpoint;
  store_best(graphs, *rules, checkpoint);
  cost::AnalyticCost cost;
  EXPECT_TRUE(adopt_best(again, rules, cost, 200, checkpoint, "here").empty());
  EXPECT_EQ(again[1].best->best_us(), 300);
  checkpoint.numbers["initial_cost_us.1"] = 401;  // prices have changed since
  EXPECT_THAT(adopt_best(again, rules, cost, 200, checkpoint, "here"), ElementsAre(HasSubstr("toy_mlp")));
  EXPECT_NE(again[1].best->best_us(), 300);
  EXPECT_EQ(again[1].best->trace().cost_us.size(), 1u);
}

}  // namespace
}  // namespace rlgo::learner

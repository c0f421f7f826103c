#include "learner/session/outcome.h"

#include <gtest/gtest.h>

#include "core/cost/analytic.h"
#include "core/exec/runtime.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::learner {
namespace {

// Rewrites there and back, and only then, somewhere, one that pays.
rules::Trace wandering(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& cost) {
  rules::Trace trace;
  rules::MatchIndex index(rules, graph);
  graph::Graph at = graph;
  const auto take = [&](const std::string& name) {
    for (int32_t rule = 0; rule < rules->size(); ++rule) {
      if (rules->name(rule) != name || index.matches(rule).empty()) continue;
      auto made = rules::apply(*rules, index.matches(rule)[0], at);
      at = std::move(made->graph);
      index.update(at, made->delta);
      trace.push_back({rule, 0});
      return;
    }
    ADD_FAILURE() << name << " matches nowhere";
  };
  for (int k = 0; k < 2; ++k) take("relu-to-clip"), take("clip-to-relu");
  take("fuse-conv-relu");
  EXPECT_LT(cost::graph_cost(cost, at).runtime_us, cost::graph_cost(cost, graph).runtime_us);
  return trace;
}

TEST(Outcome, TheBestTraceHoldsNoRewritesThatUndoOneAnother) {
  const RunFolder folder{std::filesystem::path(testing::TempDir()) / "rlgo_outcome"};
  std::filesystem::create_directories(folder.path);
  const auto rules = rules::shipped_rules();
  const auto model = optimise::load_model({.graph = "toy_conv"}, true);
  cost::AnalyticCost cost;
  exec::LibTorchRuntime runtime(exec::Device(), {});
  const double before_us = cost::graph_cost(cost, model.graph).runtime_us;
  const rules::Trace trace = wandering(model.graph, rules, cost);
  const double after_us = cost::graph_cost(cost, rules::replay(model.graph, rules, trace, 200)).runtime_us;
  BestGraph best({}, before_us);
  best.replace(trace, std::vector<double>(trace.size(), after_us));
  OutcomeInput in{folder, model, rules, cost, runtime, {}, "toy_conv"};
  in.polish = false;
  in.check.seeds = 1;
  in.check.repeats = 3;
  conclude(in, best, Log(LogOptions()));
  ASSERT_EQ(best.trace().rewrites.size(), 1u);
  EXPECT_EQ(rules->name(best.trace().rewrites[0].rule), "fuse-conv-relu");
  EXPECT_NEAR(best.best_us(), after_us, 1e-9 * after_us);
  std::filesystem::remove_all(folder.path);
}

}  // namespace
}  // namespace rlgo::learner

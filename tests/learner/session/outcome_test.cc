#include "learner/session/outcome.h"

#include <gtest/gtest.h>

#include "core/cost/analytic.h"
#include "core/cost/profile.h"
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

// The document of a run in which the agent found nothing, under the profile in which greedy rewriting ends early.
report::Json concluded(double polish_s, rules::Trace& written) {
  const RunFolder folder{std::filesystem::path(testing::TempDir()) / "rlgo_outcome_search"};
  std::filesystem::create_directories(folder.path);
  const auto rules = rules::shipped_rules();
  const auto model = optimise::load_model({.graph = "squeezenet1_1"}, true);
  const auto cost = cost::analytic_cost("gpu");
  exec::LibTorchRuntime runtime(exec::Device(), {});
  BestGraph best({}, cost::graph_cost(*cost, model.graph).runtime_us);
  OutcomeInput in{folder, model, rules, *cost, runtime, {}, "squeezenet1_1"};
  in.polish_s = polish_s;
  in.check.seeds = 1;
  in.check.repeats = 3;
  const auto outcome = conclude(in, best, Log(LogOptions()));
  written = best.trace().rewrites;
  const auto graph = rules::replay(model.graph, rules, written, 100'000);
  EXPECT_NEAR(cost::graph_cost(*cost, graph).runtime_us, best.best_us(), 1e-9 * best.best_us());
  std::filesystem::remove_all(folder.path);
  return outcome.json["cost"];
}

TEST(Outcome, ARunEndsAtWhatTheDefaultSearchFinds) {
  rules::Trace greedy, first, again;
  const auto short_one = concluded(0, greedy);
  EXPECT_EQ(short_one["taken"], "greedy");
  EXPECT_EQ(short_one["search_us"], short_one["greedy_us"]);
  const auto cost = concluded(600, first);
  EXPECT_EQ(cost["greedy_us"], short_one["greedy_us"]);
  EXPECT_LT(cost["search_us"].get<double>(), 0.98 * cost["greedy_us"].get<double>());
  EXPECT_EQ(cost["after_us"], std::min(cost["search_us"].get<double>(), cost["agent_then_search_us"].get<double>()));
  EXPECT_EQ(cost["agent_contribution_percent"], 0.0);
  EXPECT_EQ(concluded(600, again), cost);
  EXPECT_EQ(first, again);
}

}  // namespace
}  // namespace rlgo::learner

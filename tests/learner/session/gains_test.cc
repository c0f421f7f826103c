#include "learner/session/gains.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/cost/profile.h"
#include "core/env/rewrite_env.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::learner {
namespace {

// An episode of random actions, with the cost of the graph where descent after it ends.
std::pair<mdp::Trajectory, double> random_episode(env::RewriteEnv& env, uint64_t key) {
  mdp::Trajectory t;
  auto seen = env.reset(key);
  t.beginning = env.beginning();
  Rng rng({key});
  for (bool running = true; running;) {
    std::vector<mdp::Action> legal;
    for (size_t x = 0; x < seen.counts.size(); ++x) {
      for (int32_t l = 0; l < seen.counts[x]; ++l) legal.push_back({static_cast<int32_t>(x), l});
    }
    if (legal.empty()) break;
    auto& step = t.steps.emplace_back();
    step.action = legal[rng.below(legal.size())];
    auto result = env.step(step.action);
    step.info = result.info;
    running = !result.terminal;
    seen = std::move(result.observation);
  }
  return {t, env.current_cost_us()};
}

TEST(Gains, AreMadeWhereverTheyPayWithoutWhatTheyDoNotNeed) {
  const graph::Graph graph = zoo::make("squeezenet1_1");
  const auto rules = rules::shipped_rules();
  const std::shared_ptr<cost::CostModel> model = cost::analytic_cost("gpu");
  const std::vector<std::string> greedy = {"greedy"};
  env::EnvOptions options;
  options.window = 40;
  options.frontier = 1;
  const auto starts = std::make_shared<env::Starts>(graph, rules, *model, 200, 1, 20000, greedy);
  env::RewriteEnv env(graph, rules, model, options, {}, starts);
  Gains gains(graph, rules, *model, 200);
  int gained = 0;
  for (uint64_t key = 0; key < 120; ++key) {
    const auto [episode, end_us] = random_episode(env, key);
    const double begin_us = episode.beginning.cost_us.back();
    const auto way = gains.take(episode);
    EXPECT_EQ(way.has_value(), !episode.steps.empty() && end_us < begin_us * (1 - 1e-9)) << key;
    if (!way) continue;
    ++gained;
    EXPECT_LE(way->cost_us.back(), end_us * (1 + 1e-9));
    const double made_us = cost::graph_cost(*model, rules::replay(graph, rules, way->rewrites, 200)).runtime_us;
    EXPECT_NEAR(made_us, way->cost_us.back(), 1e-9 * made_us);
  }
  EXPECT_GT(gained, 0);
  mdp::Trajectory wrong;
  wrong.beginning = {0, {{0, 100000}}, {1}};
  EXPECT_THROW(gains.take(wrong), Error);
}

}  // namespace
}  // namespace rlgo::learner

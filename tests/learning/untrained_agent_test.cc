// An agent that has learned nothing plays what greedy search plays.
#include <gtest/gtest.h>

#include "core/cost/analytic.h"
#include "core/env/rewrite_env.h"
#include "core/nets/actor_critic.h"
#include "core/search/search.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo {
namespace {

class UntrainedAgent : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Zoo, UntrainedAgent,
                         ::testing::Values("resnet50", "resnet18", "squeezenet1_1", "inception_v3", "bert"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(UntrainedAgent, PlayedGreedilyIsGreedySearch) {
  const auto graph = zoo::make(GetParam());
  const auto rules = rules::shipped_rules();
  const auto model = std::make_shared<cost::AnalyticCost>();
  const auto greedy = search::run("greedy", {graph, rules, *model}, {.budget = 1'000'000});
  env::RewriteEnv env(graph, rules, model, {});
  nets::ActorCritic agent(env.spec(), nets::AgentOptions{.rounds = 1, .width = 8}, 1);
  auto seen = env.reset(0);
  for (bool ended = false; !ended;) {
    auto result = env.step(agent->act(nets::collate(seen, env.spec()), {}, true).actions[0]);
    ended = result.terminal || result.truncated;
    seen = std::move(result.observation);
  }
  EXPECT_LT(greedy.after_us, greedy.before_us);
  EXPECT_NEAR(env.current_cost_us(), greedy.after_us, 1e-6 * greedy.before_us);
  EXPECT_EQ(env.trace().size(), greedy.trace.size());
}

}  // namespace
}  // namespace rlgo

#include "actors/network_policy.h"

#include <gtest/gtest.h>

#include "actors/evaluation.h"
#include "core/base/error.h"
#include "core/nets/actor_critic.h"
#include "core/nets/weights.h"
#include "tests/support/toy_env.h"

namespace rlgo::actors {
namespace {

nets::Agent network(const mdp::ObservationSpec& spec, uint64_t seed) {
  nets::AgentOptions options;
  options.rounds = 1;
  options.width = 8;
  return nets::ActorCritic(spec, options, seed).ptr();
}

class Keep : public Sink {
 public:
  void on_trajectory(mdp::Trajectory trajectory) override { trajectories.push_back(std::move(trajectory)); }
  void on_lost(const LostEpisode& lost) override { ADD_FAILURE() << lost.what; }
  std::vector<mdp::Trajectory> trajectories;
};

std::vector<mdp::Trajectory> play(int envs, NetworkPolicy& policy) {
  std::vector<std::unique_ptr<mdp::Env>> list;
  for (int i = 0; i < envs; ++i) list.push_back(std::make_unique<test::MaskedToy>(8));
  const auto batch = mdp::make_batch(std::move(list));
  Keep keep;
  CollectorOptions options;
  options.seed = 5;
  Collector collector(*batch, policy, keep, options);
  while (collector.round([&] { return collector.next_episode() < 6; }) > 0) {
  }
  std::sort(keep.trajectories.begin(), keep.trajectories.end(),
            [](const auto& a, const auto& b) { return a.episode < b.episode; });
  return std::move(keep.trajectories);
}

TEST(NetworkPolicy, PlaysWholeEpisodes) {
  NetworkPolicy policy(network(test::MaskedToy().spec(), 1), 3);
  const auto played = play(2, policy);
  ASSERT_EQ(played.size(), 6u);
  for (const auto& t : played) {
    EXPECT_EQ(t.weights_version, 3);
    EXPECT_EQ(t.last_value_rule == 0, t.terminal);
    for (const auto& step : t.steps) {
      EXPECT_LT(step.log_prob_rule, 0);
      EXPECT_EQ(step.log_prob_location == 0,
                step.action.rule == 7 || step.observation.counts[static_cast<size_t>(step.action.rule)] == 1);
    }
  }
}

TEST(NetworkPolicy, AnEpisodeDoesNotDependOnTheBatch) {
  NetworkPolicy policy(network(test::MaskedToy().spec(), 1));
  const auto alone = play(1, policy);
  const auto together = play(3, policy);
  ASSERT_EQ(alone.size(), together.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    ASSERT_EQ(alone[i].steps.size(), together[i].steps.size());
    for (size_t k = 0; k < alone[i].steps.size(); ++k) {
      EXPECT_EQ(alone[i].steps[k].action, together[i].steps[k].action);
      EXPECT_NEAR(alone[i].steps[k].log_prob_rule, together[i].steps[k].log_prob_rule, 1e-5);
    }
  }
}

// What an actor decides, together or alone, is what the learner makes of it: the same probabilities and values.
TEST(NetworkPolicy, DecidesAsTheLearnerEvaluates) {
  using nets::Block;
  using nets::PolicyHead;
  for (const auto& [block, head] : {std::pair(Block::local, PolicyHead::joint),
                                    {Block::local, PolicyHead::staged},
                                    {Block::local, PolicyHead::flat},
                                    {Block::full, PolicyHead::staged},
                                    {Block::gcn, PolicyHead::joint},
                                    {Block::gat, PolicyHead::flat}}) {
    test::MaskedToy env;
    nets::ActorCritic agent(env.spec(), nets::AgentOptions{.rounds = 2, .width = 8, .head = head, .block = block}, 1);
    const torch::NoGradGuard no_gradients;
    torch::manual_seed(1);
    for (auto& p : agent->parameters()) p.add_(0.1 * torch::randn_like(p));
    NetworkPolicy policy(agent.ptr());
    const std::vector<mdp::Observation> seen = {env.reset(4), env.reset(5)};
    const std::vector<const mdp::Observation*> both = {&seen[0], &seen[1]};
    const std::vector<double> uniforms = {0.3, 0.6, 0.9, 0.2};
    const auto decided = policy.decide(both, uniforms);
    const std::vector<mdp::Action> actions = {decided[0].action, decided[1].action};
    const auto wanted = agent->evaluate(nets::collate(both, env.spec()), actions);
    for (size_t i = 0; i < 2; ++i) {
      const auto alone = policy.decide({&both[i], 1}, std::span(uniforms).subspan(2 * i, 2));
      EXPECT_EQ(alone[0].action, decided[i].action);
      const auto row = static_cast<int64_t>(i);
      EXPECT_NEAR(decided[i].log_prob_rule, wanted.log_prob_rule[row].item<float>(), 1e-4);
      EXPECT_NEAR(decided[i].log_prob_location, wanted.log_prob_location[row].item<float>(), 1e-4);
      EXPECT_NEAR(decided[i].value_rule, wanted.value_rule[row].item<float>(), 1e-4);
    }
  }
}

TEST(NetworkPolicy, LoadReplacesTheWeights) {
  const auto spec = test::MaskedToy().spec();
  auto first = network(spec, 1), second = network(spec, 2);
  NetworkPolicy policy(first), other(second);
  const auto before = play(1, policy);
  policy.load(nets::pack(*second), 9);
  EXPECT_EQ(policy.version(), 9);
  const auto after = play(1, policy), wanted = play(1, other);
  EXPECT_EQ(after[0].steps[0].value_rule, wanted[0].steps[0].value_rule);
  EXPECT_NE(after[0].steps[0].value_rule, before[0].steps[0].value_rule);
  EXPECT_THROW(policy.load("damaged", 10), Error);
  EXPECT_EQ(policy.version(), 9);
}

TEST(NetworkPolicy, GreedyNeedsNoLuck) {
  const test::MaskedToy env;
  NetworkPolicy policy(network(env.spec(), 1));
  policy.set_greedy(true);
  auto observation = test::MaskedToy().reset(4);
  const mdp::Observation* pointer = &observation;
  Rng a{1}, b{2};
  Rng *first = &a, *second = &b;
  EXPECT_EQ(policy.act({&pointer, 1}, {&first, 1})[0].action, policy.act({&pointer, 1}, {&second, 1})[0].action);
  EXPECT_EQ(policy.value({&pointer, 1}).size(), 1u);
}

}  // namespace
}  // namespace rlgo::actors

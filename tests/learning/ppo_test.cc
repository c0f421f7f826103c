// PPO learns what is known to be learnable, within a bound on interactions.
#include <gtest/gtest.h>

#include "core/mdp/mdp.h"
#include "core/nets/actor_critic.h"
#include "learner/ppo/trainer.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::copies;
using test::EndlessToy;
using test::HillToy;
using test::MaskedToy;
using test::mean_score;
using test::PathToy;
using test::play;

// An agent and its trainer, small enough for seconds.
template <typename ToyType>
struct Lesson {
  Lesson(uint64_t s, PpoOptions options, double noop_bias = 0)
      : Lesson(s, options, nets::AgentOptions{.rounds = 1, .width = 32, .noop_bias = noop_bias}) {}
  Lesson(uint64_t s, PpoOptions options, const nets::AgentOptions& network)
      : seed(s), agent(ToyType().spec(), network, s), trainer(agent.ptr(), options), shuffle({s, 1}) {}
  // One round of collecting and learning.
  UpdateStats round(int64_t steps) {
    auto data = play(agent, envs, steps, seed, episodes);
    episodes += 1000000;
    interactions += steps;
    return trainer.update(data, shuffle);
  }
  double greedy_score(int64_t steps) { return mean_score(play(agent, envs, steps, seed + 1000, 0, true)); }

  uint64_t seed;
  nets::ActorCritic agent;
  PpoTrainer trainer;
  Rng shuffle;
  std::vector<std::unique_ptr<ToyType>> envs = copies<ToyType>(16);
  int64_t episodes = 0, interactions = 0;
};

class Seeds : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Three, Seeds, ::testing::Values(1, 2, 3));

// 4 jumps of two cells: 10 - 4 = 6. One back, or one step of a single cell too many, gives at most 5. A reluctance to
// stop is needed to see the goal at all.
TEST_P(Seeds, ReachesTheOptimumOfThePath) {
  Lesson<PathToy> lesson(GetParam(), {.learning_rate = 2e-3, .minibatch = 128}, -3.0);
  double score = -100;
  while (score < PathToy::optimum(9) && lesson.interactions < 12000) {
    lesson.round(500);
    score = lesson.greedy_score(1);
  }
  EXPECT_EQ(score, 6.0) << "after " << lesson.interactions << " interactions";
}

// The same by each head and block of the published agents (toys have no prices).
TEST(Variants, ReachTheOptimumOfThePath) {
  using nets::Block;
  using nets::PolicyHead;
  for (const auto& [block, head] : {std::pair(Block::local, PolicyHead::staged),
                                    {Block::local, PolicyHead::flat},
                                    {Block::full, PolicyHead::staged},
                                    {Block::gcn, PolicyHead::joint},
                                    {Block::gat, PolicyHead::joint}}) {
    const nets::AgentOptions network{.rounds = 1, .width = 32, .head = head, .noop_bias = -3, .block = block};
    Lesson<PathToy> lesson(1, {.learning_rate = 2e-3, .minibatch = 128}, network);
    double score = -100;
    while (score < PathToy::optimum(9) && lesson.interactions < 12000) {
      lesson.round(500);
      score = lesson.greedy_score(1);
    }
    EXPECT_EQ(score, 6.0) << name_of(block, nets::kBlocks) << " " << name_of(head, nets::kPolicyHeads);
  }
}

// Stopping at once gives 0, taking no loss 2, the way over the hill 9.
TEST_P(Seeds, GoesThroughALossForALargerGain) {
  Lesson<HillToy> lesson(GetParam(), {.learning_rate = 2e-3, .minibatch = 128});
  double score = -100;
  while (score < 9 && lesson.interactions < 12000) {
    lesson.round(500);
    score = lesson.greedy_score(100);
  }
  EXPECT_EQ(score, 9.0) << "after " << lesson.interactions << " interactions";
}

// 15 of 70 actions legal, others in each step: after 2048 steps >= 90 of 100 (random legal play: below 7).
TEST(Masked, NinetyOfAHundredWithFifteenOfSeventyLegal) {
  Lesson<MaskedToy> lesson(1, {.learning_rate = 3e-3, .epochs = 8, .minibatch = 128, .target_kl = 0});
  EXPECT_LT(lesson.greedy_score(1600), 40.0);
  for (int i = 0; i < 4; ++i) lesson.round(512);
  EXPECT_GE(lesson.greedy_score(1600), 90.0);
}

// 1 a step for ever, cut off every 16 steps: the value is 1 / (1 - 0.98) = 50. Taking the cut for an end would give
// less than 14. The agent all but never stops, so that only its value is learnt.
TEST(TimeLimit, ValueLooksBeyondTheCut) {
  Lesson<EndlessToy> lesson(1, {.gamma = 0.98, .learning_rate = 3e-3, .epochs = 8, .minibatch = 128, .entropy = 0},
                            -12.0);
  double value = 0;
  for (int i = 0; i < 60; ++i) {
    lesson.round(256);
    value = play(lesson.agent, lesson.envs, 1, 5)[0].steps[0].value_rule;
  }
  EXPECT_NEAR(value, 50.0, 1.0);
}

}  // namespace
}  // namespace rlgo::learner

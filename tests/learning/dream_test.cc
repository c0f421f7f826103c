// A controller that learns in the dream alone solves the real environment.
#include <gtest/gtest.h>

#include "actors/collector.h"
#include "actors/dream_env.h"
#include "actors/evaluation.h"
#include "actors/latent_env.h"
#include "learner/dream/evaluation.h"
#include "learner/dream/trainer.h"
#include "learner/ppo/trainer.h"
#include "tests/support/toy_env.h"

namespace rlgo {
namespace {

using test::PathToy;

class Keep : public actors::Sink {
 public:
  void on_trajectory(mdp::Trajectory t) override { all.push_back(std::move(t)); }
  void on_lost(const actors::LostEpisode& lost) override { ADD_FAILURE() << lost.what; }
  std::vector<mdp::Trajectory> all;
};

std::vector<mdp::Trajectory> collect(mdp::BatchEnv& envs, actors::Policy& policy, uint64_t seed, int64_t episodes,
                                     bool dream) {
  Keep keep;
  actors::CollectorOptions options;
  options.seed = seed;
  options.dream = dream;
  options.step_together = dream;
  actors::Collector collector(envs, policy, keep, options);
  while (collector.round([&] { return collector.next_episode() < episodes; }) > 0) {
  }
  return std::move(keep.all);
}

std::unique_ptr<mdp::BatchEnv> paths() {
  std::vector<std::unique_ptr<mdp::Env>> list;
  for (int i = 0; i < 8; ++i) list.push_back(std::make_unique<PathToy>(7));
  return mdp::make_batch(std::move(list));
}

class Dreams : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Three, Dreams, ::testing::Values(1, 2, 3));

// A path of 7 cells: 3 jumps of two cells give 10 - 3 = 7, 6 single steps 4, stopping at once 0, random play less than
// 0; bound: the goal, without a step back (most seeds find the jumps). 400 episodes of random play, then dreams alone;
// real episodes only look at what was learnt.
TEST_P(Dreams, AControllerTrainedInTheDreamSolvesTheRealPath) {
  const uint64_t seed = GetParam();
  nets::WorldOptions world;
  world.encoder = {.rounds = 2, .width = 16, .block = nets::Block::local};
  world.hidden = 64;
  world.mixtures = 4;
  const auto d = std::make_shared<actors::Dreamer>(PathToy(7).spec(), world,
                                                   nets::LatentAgentOptions{.width = 64, .noop_bias = -4}, seed);
  const auto envs = paths();
  actors::RandomPolicy random;
  const auto data = collect(*envs, random, seed, 400, false);
  std::vector<const mdp::Trajectory*> all;
  for (const auto& t : data) all.push_back(&t);
  learner::WorldTrainer trainer(d->world, {.learning_rate = 3e-3, .passes = 15, .batch = 32, .sequence = 64}, seed);
  Rng shuffle({seed});
  trainer.update(all, 0, shuffle);

  d->act_at_random = false;
  d->world->freeze_view();
  d->starts = learner::states_along({all.data(), 1}, trainer, 1).starts;  // the first state
  learner::PpoTrainer ppo(d->agent.ptr(), {.learning_rate = 2e-3, .minibatch = 128});
  actors::DreamerPolicy policy(d);
  actors::LatentEnv real(paths(), d);
  double score = -100;
  for (uint64_t round = 1; round <= 30 && score < 7; ++round) {
    actors::DreamEnv dream(d, {.batch = 64, .max_steps = 20, .temperature = 0.5});
    ppo.update(collect(dream, policy, seed * 100 + round, 64, true), shuffle);
    if (round % 5 == 0)
      score = actors::evaluate(real, policy, {.seed = seed, .episodes = 1, .greedy = true}).total_reward.mean;
  }
  EXPECT_GE(score, 4.0);
}

}  // namespace
}  // namespace rlgo

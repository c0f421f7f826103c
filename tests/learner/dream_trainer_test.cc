#include "learner/dream/trainer.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/nets/actor_critic.h"
#include "core/nets/weights.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::PathToy;

nets::WorldModel make(uint64_t seed = 1, int ensemble = 1) {
  nets::WorldOptions o;
  o.encoder = {.rounds = 2, .width = 16};
  o.hidden = 32;
  o.mixtures = 4;
  o.action_width = 8;
  o.ensemble = ensemble;
  return nets::WorldModel(PathToy().spec(), o, seed);
}

std::vector<mdp::Trajectory> play(int64_t steps, uint64_t seed = 1) {
  nets::ActorCritic agent(PathToy().spec(), nets::AgentOptions{.rounds = 1, .width = 8, .noop_bias = -2}, seed);
  auto envs = test::copies<PathToy>(4);
  return test::play(agent, envs, steps, seed);
}
std::vector<const mdp::Trajectory*> pointers(const std::vector<mdp::Trajectory>& all) {
  std::vector<const mdp::Trajectory*> result;
  for (const auto& t : all) result.push_back(&t);
  return result;
}
WorldStats update(WorldTrainer& trainer, const std::vector<mdp::Trajectory>& data, double progress = 0) {
  Rng shuffle({9});
  const auto all = pointers(data);
  return trainer.update(all, progress, shuffle);
}

TEST(WorldTrainer, OverfitsOneEpisode) {
  auto data = play(60, 2);
  std::erase_if(data, [](const auto& t) { return t.steps.size() < 4; });
  data.resize(1);
  WorldTrainer trainer(make(), {.learning_rate = 3e-3, .passes = 500, .holdout = 0}, 1);
  update(trainer, data);
  const auto score = trainer.score(pointers(data));
  EXPECT_LT(score.reward_mse, 0.01);
  EXPECT_LT(score.nll, -1.5);
  EXPECT_EQ(score.mask_f1, 1);
  EXPECT_EQ(score.counts_exact, 1);
  EXPECT_LT(score.drift[0], 0.2);
  EXPECT_EQ(score.exact[0], 1);
}

// Unequal lengths side by side predict as each alone: what pads does not count.
TEST(WorldTrainer, PaddingNeverInfluences) {
  auto data = play(80);
  std::erase_if(data, [](const auto& t) { return t.steps.size() < 2; });
  ASSERT_GE(data.size(), 3u);
  WorldTrainer trainer(make(), {.holdout = 0}, 1);
  update(trainer, data);
  double nll = 0, steps = 0;
  for (const auto& t : data) {
    const mdp::Trajectory* one[] = {&t};
    const auto score = trainer.score(one);
    nll += score.nll * static_cast<double>(score.steps);
    steps += static_cast<double>(score.steps);
  }
  EXPECT_NEAR(trainer.score(pointers(data)).nll, nll / steps, 1e-4);
}

TEST(WorldTrainer, PredictsBetterThanTheBaselines) {
  WorldTrainer trainer(make(), {.learning_rate = 3e-3, .passes = 30, .holdout = 0}, 1);
  update(trainer, play(600));
  const auto unseen = play(200, 77);
  const auto score = trainer.score(pointers(unseen));
  EXPECT_LT(score.nll, score.nll_no_change);
  EXPECT_LT(score.nll, score.nll_unconditional);
  EXPECT_GT(score.reward_correlation, 0.9);
  EXPECT_GT(score.mask_f1, 0.95);
}

// Trained with the rest, latents keep their spread: the encoder does not collapse to a constant.
// A menu of 30 locations, each of which can be taken once and pays 1. After a hundred short episodes the model counts
// down with it: 20 steps on its own predictions are exact.
class MenuToy : public test::ToyEnv {
 public:
  MenuToy() : ToyEnv({"take"}, 30, 25) {}

 protected:
  void start() override { left_ = 30; }
  mdp::Observation observe() const override {
    auto o = line(30);
    o.counts[0] = left_;
    for (int i = 0; i < left_; ++i) o.loc_node.push_back(30 - left_ + i);
    return o;
  }
  float move(mdp::Action, bool&) override { return --left_, 1.0f; }

 private:
  int left_ = 30;
};

TEST(WorldTrainer, TheMenuDepletesAsItDoes) {
  nets::ActorCritic agent(MenuToy().spec(), nets::AgentOptions{.rounds = 1, .width = 8, .noop_bias = -9}, 1);
  auto envs = test::copies<MenuToy>(4);
  const auto data = test::play(agent, envs, 1000, 1), unseen = test::play(agent, envs, 100, 2, 1000);
  for (const bool locations : {false, true}) {
    nets::WorldOptions o;
    o.encoder = {.rounds = 1, .width = 8, .block = nets::Block::local};
    o.hidden = 16;
    o.locations = locations;
    WorldTrainer trainer(nets::WorldModel(MenuToy().spec(), o, 1), {.learning_rate = 3e-3, .passes = 60, .holdout = 0},
                         1);
    update(trainer, data);
    const auto score = trainer.score(pointers(unseen));
    EXPECT_EQ(score.exact[3], 1) << locations;  // 20 steps
  }
}

TEST(WorldTrainer, AJointEncoderDoesNotCollapse) {
  auto world = make();
  const auto before = nets::pack(*world->encoder());
  WorldTrainer trainer(world, {.train_encoder = true, .learning_rate = 3e-3, .passes = 10, .holdout = 0}, 1);
  update(trainer, play(400));
  const auto data = play(100, 5);
  const auto all = pointers(data);
  const auto s = make_sequences(all, world->spec());
  torch::NoGradGuard no_grad;
  const auto raw = trainer.encode(s, 0, s.steps, world->encoder(), false).reshape({-1, 16});
  const auto real = raw.index_select(0, s.mask.reshape(-1).nonzero().squeeze(1));
  EXPECT_GT(real.std(0).mean().item<double>(), 0.5 * kMinLatentDeviation);
  EXPECT_GT(real.std(0).min().item<double>(), 0.2 * kMinLatentDeviation);
  EXPECT_NE(nets::pack(*world->encoder()), before);
  EXPECT_LT(trainer.score(all).nll, trainer.score(all).nll_unconditional);
}

TEST(WorldTrainer, AFrozenEncoderStaysAsItIs) {
  auto world = make();
  const auto before = nets::pack(*world->encoder());
  WorldTrainer trainer(world, {.passes = 2, .holdout = 0}, 1);
  update(trainer, play(100));
  EXPECT_EQ(nets::pack(*world->encoder()), before);
}

TEST(WorldTrainer, LearningRateFallsByTheSquare) {
  WorldTrainer trainer(make(), {.learning_rate = 1e-3, .learning_rate_end = 0, .holdout = 0}, 1);
  EXPECT_DOUBLE_EQ(update(trainer, play(20), 0.5).learning_rate, 0.25e-3);
}

TEST(WorldTrainer, HeldOutEpisodesAreMeasuredNotLearned) {
  WorldTrainer trainer(make(), {.holdout = 0.3}, 1);
  update(trainer, play(200));
  const auto stats = update(trainer, play(200, 3));
  EXPECT_GT(stats.held_out, 0);
  EXPECT_GT(stats.score.steps, 0);
  EXPECT_GT(stats.episodes, stats.held_out);
}

TEST(WorldTrainer, ACheckpointGoesOnExactly) {
  for (const bool joint : {false, true}) {
    WorldTrainer first(make(1, 2), {.train_encoder = joint, .passes = 2}, 1);
    update(first, play(100));
    Checkpoint c;
    first.store(c, "world/");
    WorldTrainer second(make(2, 2), {.train_encoder = joint, .passes = 2}, 1);
    second.restore(c, "world/");
    update(first, play(100, 3));
    update(second, play(100, 3));
    EXPECT_EQ(nets::pack(*first.model()), nets::pack(*second.model()));
  }
}

TEST(WorldTrainer, ForeignEpisodesAreErrors) {
  auto data = play(20);
  data[0].spec_hash ^= 1;
  WorldTrainer trainer(make(), {}, 1);
  EXPECT_THROW(update(trainer, data), Error);
}

}  // namespace
}  // namespace rlgo::learner

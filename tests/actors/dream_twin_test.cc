#include <gtest/gtest.h>

#include <numeric>

#include "actors/dream_env.h"
#include "actors/latent_env.h"
#include "tests/support/toy_env.h"

namespace rlgo::actors {
namespace {

using test::HillToy;

constexpr int kWidth = 8;  // of the latent

std::shared_ptr<Dreamer> make(bool locations) {
  nets::WorldOptions o;
  o.encoder = {.rounds = 1, .width = kWidth, .block = nets::Block::local};
  o.hidden = 16;
  o.mixtures = 3;
  if (!locations) {  // the published form
    o.locations = o.own_trunks = o.ranges = false;
    o.counts = nets::CountModel::log;
    o.reward_scale = nets::RewardScale::linear;
  }
  auto d = std::make_shared<Dreamer>(HillToy().spec(), o, nets::LatentAgentOptions{.width = 16}, 1);
  d->act_at_random = false;
  return d;
}

std::unique_ptr<mdp::BatchEnv> hills(int count) {
  std::vector<std::unique_ptr<mdp::Env>> list;
  for (int i = 0; i < count; ++i) list.push_back(std::make_unique<HillToy>());
  return mdp::make_batch(std::move(list));
}

DreamEnv dream(const std::shared_ptr<Dreamer>& d, Truth truth, int prefix = 0) {
  return {d, {.batch = 1, .max_steps = 50}, {std::make_shared<LatentEnv>(hills(1), d), truth, prefix}};
}

constexpr mdp::Action kTrim{0, 0}, kExpand{1, 0};

class BothForms : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(DreamTwin, BothForms, testing::Bool(),
                         [](const auto& i) { return i.param ? "Locations" : "Published"; });

TEST_P(BothForms, WithAllPartsTrueItIsReality) {
  const auto d = make(GetParam());
  auto env = dream(d, {true, true, true});
  LatentEnv real(hills(1), d);
  EXPECT_EQ(env.reset(0, 3).latent, real.reset(0, 3).latent);
  for (const auto action : {kTrim, kExpand, mdp::Action{2, 1}, kTrim}) {
    const auto a = env.step({0}, {action})[0], b = real.step({0}, {action})[0];
    EXPECT_EQ(a.reward, b.reward);
    EXPECT_EQ(a.terminal, b.terminal);
    if (b.terminal) continue;
    EXPECT_EQ(a.observation.counts, b.observation.counts);
    ASSERT_EQ(a.observation.latent.size(), b.observation.latent.size());
    for (size_t i = 0; i < b.observation.latent.size(); ++i)
      EXPECT_NEAR(a.observation.latent[i], b.observation.latent[i], 1e-5);
  }
  EXPECT_EQ(env.apart().illegal, 0);
}

TEST_P(BothForms, WithNoPartTrueItIsTheDream) {
  const auto d = make(GetParam());
  auto env = dream(d, {});
  LatentEnv real(hills(1), d);
  real.reset(0, 3);
  const auto& s = real.state(0);
  d->starts = {s.z, s.memory.h, s.memory.c, torch::tensor(s.counts, torch::kFloat32).unsqueeze(0), {}};
  if (GetParam()) d->starts.menus.push_back(s.menu);
  DreamEnv alone(d, {.batch = 1, .max_steps = 50});
  EXPECT_EQ(env.reset(0, 3), alone.begin(0, 3, 0));
  const auto a = env.step({0}, {kTrim})[0], b = alone.step({0}, {kTrim})[0];
  EXPECT_EQ(a.reward, b.reward);
  EXPECT_EQ(a.observation, b.observation);
}

TEST_P(BothForms, APartIsTrueByItself) {
  const auto d = make(GetParam());
  LatentEnv real(hills(1), d);
  real.reset(0, 3);
  const auto truth = real.step({0}, {kExpand})[0];
  const auto step = [&](Truth parts) {
    auto env = dream(d, parts);
    env.reset(0, 3);
    return env.step({0}, {kExpand})[0];
  };
  const auto latent = [](const mdp::StepResult& r) {
    return std::vector<float>(r.observation.latent.begin(), r.observation.latent.begin() + kWidth);
  };
  for (const Truth parts : {Truth{true, false, false}, Truth{false, true, false}, Truth{false, false, true}}) {
    const auto r = step(parts);
    EXPECT_EQ(r.reward == truth.reward, parts.reward);
    EXPECT_EQ(r.observation.counts == truth.observation.counts, parts.masks);
    EXPECT_EQ(latent(r) == latent(truth), parts.state);
  }
}

// Nothing changes in reality at an action that it does not offer, and it pays nothing.
TEST(DreamTwin, IllegalActionsPayNothing) {
  const auto d = make(false);
  auto env = dream(d, {true, false, false});
  Rng rng({7});
  for (uint64_t key = 0; key < 20; ++key) {
    auto seen = env.reset(0, key);
    for (bool over = false; !over;) {
      RandomPolicy random(false);
      const mdp::Observation* const now[] = {&seen};
      Rng* const draws[] = {&rng};
      const auto before = env.apart().illegal;
      auto r = env.step({0}, {random.act(now, draws)[0].action})[0];
      if (env.apart().illegal > before) {
        EXPECT_EQ(r.reward, 0);
      }
      over = r.terminal || r.truncated;
      seen = std::move(r.observation);
    }
  }
  EXPECT_GT(env.apart().illegal, 0);
  EXPECT_LT(env.apart().illegal, env.apart().steps);
  EXPECT_GT(env.apart().wrong, 0);
}

TEST_P(BothForms, BeginsBehindRandomRewrites) {
  const auto d = make(GetParam());
  auto env = dream(d, {}, 2), again = dream(d, {true, true, true}, 2);
  const auto first = env.reset(0, 5);
  EXPECT_EQ(first, again.reset(0, 5));
  EXPECT_NE(first, dream(d, {}).reset(0, 5));
  EXPECT_EQ(env.prefix_reward(0), again.prefix_reward(0));
  EXPECT_NE(env.prefix_reward(0), 0);
  // A HillToy ends after 12 steps: nothing is left to do but to stop.
  auto ended = dream(d, {}, 40);
  const auto last = ended.reset(0, 5);
  EXPECT_EQ(std::accumulate(last.counts.begin(), last.counts.end(), 0), 0);
  EXPECT_TRUE(ended.step({0}, {{3, 0}})[0].terminal);
}

}  // namespace
}  // namespace rlgo::actors

#include "core/nets/world_model.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/nets/latent_agent.h"
#include "core/nets/weights.h"
#include "tests/support/toy_env.h"

namespace rlgo::nets {
namespace {

using torch::Tensor;

WorldModel make(int ensemble = 1, bool separate = false, uint64_t seed = 1) {
  WorldOptions o;
  o.encoder = {.rounds = 1, .width = 8};
  o.hidden = 16;
  o.mixtures = 3;
  o.ensemble = ensemble;
  if (separate) o.reward_model = RewardModel::separate;
  return WorldModel(test::HillToy().spec(), o, seed);
}

WorldInput input(int64_t steps, int64_t batch) {
  torch::manual_seed(3);
  return {torch::randn({steps, batch, 8}), torch::randint(0, 3, {steps, batch, 3}).to(torch::kFloat32),
          torch::randint(0, 4, {steps, batch}), torch::rand({steps, batch, 2})};
}
WorldInput at(const WorldInput& all, int64_t t) { return {all.z[t], all.counts[t], all.rule[t], all.location[t]}; }

TEST(WorldModel, Shapes) {
  auto world = make(2);
  auto memory = world->blank(5);
  const auto p = world->step(at(input(1, 5), 0), memory);
  EXPECT_EQ(p.z.mean.sizes(), (std::vector<int64_t>{5, 8, 3}));
  EXPECT_EQ(p.reward.sizes(), (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(p.terminal.sizes(), (std::vector<int64_t>{5}));
  EXPECT_EQ(p.present.sizes(), (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(p.members.sizes(), (std::vector<int64_t>{5, 2, 8}));
  EXPECT_EQ(memory.h.sizes(), (std::vector<int64_t>{5, 16}));
  EXPECT_EQ(world->spec().latent_features, 24);
}

TEST(WorldModel, ASequenceIsItsSteps) {
  auto world = make(2, true);
  const auto all = input(4, 3);
  auto memory = world->blank(3), other = world->blank(3);
  const auto whole = world->sequence(all, memory);
  for (int64_t t = 0; t < 4; ++t) {
    const auto p = world->step(at(all, t), other);
    EXPECT_TRUE(torch::allclose(p.z.mean, whole.z.mean[t], 1e-4, 1e-5));
    EXPECT_TRUE(torch::allclose(p.reward, whole.reward[t], 1e-4, 1e-5));
    EXPECT_TRUE(torch::allclose(p.present, whole.present[t], 1e-4, 1e-5));
  }
  EXPECT_TRUE(torch::allclose(memory.c, other.c, 1e-4, 1e-5));
}

TEST(WorldModel, ABatchOfOneEqualsABatchOfMany) {
  auto world = make();
  const auto all = input(1, 7);
  auto memory = world->blank(7);
  const auto many = world->step(at(all, 0), memory);
  for (int64_t b = 0; b < 7; ++b) {
    auto own = world->blank(1);
    const auto one = world->step({all.z[0].slice(0, b, b + 1), all.counts[0].slice(0, b, b + 1),
                                  all.rule[0].slice(0, b, b + 1), all.location[0].slice(0, b, b + 1)},
                                 own);
    EXPECT_TRUE(torch::allclose(one.z.mean[0], many.z.mean[b], 1e-4, 1e-5)) << b;
    EXPECT_TRUE(torch::allclose(own.h[0], memory.h[b], 1e-4, 1e-5)) << b;
  }
}

TEST(WorldModel, NoOpEndsAnEpisodeByContract) {
  auto world = make();
  auto in = at(input(1, 2), 0);
  in.rule = torch::tensor({int64_t{3}, int64_t{0}});
  auto memory = world->blank(2);
  const auto p = world->step(in, memory);
  EXPECT_GT(p.terminal[0].item<float>(), 5);
  EXPECT_LT(p.terminal[1].item<float>(), -3);
}

TEST(WorldModel, CountsAreWholeNumbersWithinBounds) {
  auto world = make();
  Prediction p;
  p.present = torch::tensor({{1.0f, -1.0f, 1.0f}});
  p.log_count = torch::tensor({{1.1f, 1.1f, 9.0f}});                                    // exp(1.1) - 1 = 2.004
  EXPECT_TRUE(torch::equal(world->counts_of(p), torch::tensor({{2.0f, 0.0f, 3.0f}})));  // max_locations is 3
}

TEST(WorldModel, StandardisesThereAndBack) {
  auto world = make();
  world->set_reward_statistics(2, 4);
  EXPECT_FLOAT_EQ(world->standardise_reward(torch::tensor(6.0f)).item<float>(), 1);
  EXPECT_FLOAT_EQ(world->reward_units(torch::tensor(1.0f)).item<float>(), 6);
  world->set_latent_statistics(torch::ones({8}), torch::zeros({8}));
  EXPECT_TRUE(torch::isfinite(world->standardise(torch::ones({1, 8}) * 2)).all().item<bool>());
}

TEST(WorldModel, ASeparateRewardLeavesTheRestAlone) {
  auto world = make(1, true);
  auto memory = world->blank(2);
  world->sequence(input(3, 2), memory).reward.sum().backward();
  for (const auto& item : world->named_parameters()) {
    const bool own = item.key().starts_with("reward_");
    const auto grad = item.value().grad();
    EXPECT_EQ(own, grad.defined() && grad.abs().sum().item<float>() > 0) << item.key();
  }
}

TEST(WorldModel, WeightsGoThroughBytes) {
  auto a = make(), b = make(1, false, 2);
  unpack(*b, pack(*a));
  auto m = a->blank(2), n = b->blank(2);
  const auto in = at(input(1, 2), 0);
  EXPECT_TRUE(torch::equal(a->step(in, m).z.mean, b->step(in, n).z.mean));
}

TEST(WorldModel, OptionsOutOfBoundsAreErrors) {
  WorldOptions o;
  o.mixtures = 0;
  EXPECT_THROW(check(o), Error);
  EXPECT_EQ(location_features({3, 0}, std::vector<int32_t>{1, 2, 3}, 10), (std::array<float, 2>{0, 0}));
  EXPECT_EQ(location_features({1, 1}, std::vector<int32_t>{1, 2, 3}, 10), (std::array<float, 2>{0.75f, 0.1f}));
}

mdp::Observation dreamed(std::vector<int32_t> counts, float fill) {
  mdp::Observation o;
  o.counts = std::move(counts);
  o.latent.assign(24, fill);
  return o;
}

TEST(LatentAgent, ActsLegallyAndAgreesWithEvaluate) {
  auto world = make();
  LatentAgent agent(world->spec(), LatentAgentOptions{.width = 16}, 5);
  const std::vector<mdp::Observation> all = {dreamed({0, 2, 0}, 0.1f), dreamed({0, 0, 0}, 0.5f),
                                             dreamed({3, 0, 1}, -1.0f)};
  std::vector<const mdp::Observation*> seen = {&all[0], &all[1], &all[2]};
  const auto batch = collate(seen, agent->spec());
  for (int trial = 0; trial < 50; ++trial) {
    Rng rng({static_cast<uint64_t>(trial)});
    std::vector<double> uniforms;
    for (int i = 0; i < 6; ++i) uniforms.push_back(rng.uniform());
    const auto d = agent->act(batch, uniforms);
    for (size_t i = 0; i < 3; ++i) {
      const auto [x, l] = d.actions[i];
      EXPECT_TRUE(x == 3 ? l == 0 : l < all[i].counts[static_cast<size_t>(x)]) << x << " " << l;
    }
    const auto e = agent->evaluate(batch, d.actions);
    for (size_t i = 0; i < 3; ++i) {
      const auto b = static_cast<int64_t>(i);
      EXPECT_NEAR(e.log_prob_rule[b].item<float>(), d.log_prob_rule[i], 1e-5);
      EXPECT_NEAR(e.log_prob_location[b].item<float>(), d.log_prob_location[i], 1e-5);
      EXPECT_NEAR(e.value_rule[b].item<float>(), d.value_rule[i], 1e-5);
    }
  }
  const auto greedy = agent->act(batch, {}, true);
  EXPECT_EQ(greedy.actions[1].rule, 3);  // nothing else is legal
}

TEST(LatentAgent, NeedsLatents) { EXPECT_THROW(LatentAgent(test::HillToy().spec(), LatentAgentOptions{}, 1), Error); }

}  // namespace
}  // namespace rlgo::nets

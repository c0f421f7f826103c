#include "core/nets/world_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/nets/latent_agent.h"
#include "core/nets/weights.h"
#include "tests/support/toy_env.h"

namespace rlgo::nets {
namespace {

using torch::Tensor;

// The published form, without the repairs.
WorldOptions published() {
  WorldOptions o;
  o.locations = o.own_trunks = o.ranges = false;
  o.counts = CountModel::log;
  o.reward_scale = RewardScale::linear;
  return o;
}

WorldModel make(int ensemble = 1, bool separate = false, uint64_t seed = 1, WorldOptions o = published()) {
  o.encoder = {.rounds = 1, .width = 8};
  o.hidden = 16;
  o.mixtures = 3;
  o.ensemble = ensemble;
  if (separate) o.reward_model = RewardModel::separate;
  return WorldModel(test::HillToy().spec(), o, seed);
}

WorldInput input(int64_t steps, int64_t batch) {
  torch::manual_seed(3);
  return {torch::randn({steps, batch, 8}),      torch::randint(0, 3, {steps, batch, 3}).to(torch::kFloat32),
          torch::randint(0, 4, {steps, batch}), torch::rand({steps, batch, 2}),
          torch::randn({steps, batch, 18}),     torch::randint(0, 3, {steps, batch, 3}).to(torch::kFloat32)};
}
WorldInput at(const WorldInput& all, int64_t t) {
  return {all.z[t], all.counts[t], all.rule[t], all.location[t], all.place[t], all.overlap[t]};
}

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

TEST(WorldModel, ShapesWithLocations) {
  auto world = make(2, false, 1, WorldOptions{});
  auto memory = world->blank(5);
  const auto p = world->step(at(input(1, 5), 0), memory);
  EXPECT_EQ(p.change.sizes(), (std::vector<int64_t>{5, 3, 17}));
  EXPECT_EQ(p.gone.sizes(), (std::vector<int64_t>{5, 3, 9}));
  EXPECT_EQ(p.members.sizes(), (std::vector<int64_t>{5, 2, 8}));
  EXPECT_EQ(world->come(p.trunk, torch::tensor({0, 1, 2, 0, 1}), torch::zeros({5, 18})).sizes(),
            (std::vector<int64_t>{5, 18}));
  EXPECT_EQ(world->spec().latent_features, 8);
  EXPECT_EQ(world->spec().location_latents, 18);
}

// Before training: rewards are the exact savings, and as many locations go as share a node with the action's.
TEST(WorldModel, BeginsWithWhatIsKnown) {
  auto world = make(1, false, 1, WorldOptions{});
  world->set_reward_statistics(0.5, 2);
  auto in = at(input(1, 4), 0);
  in.counts = torch::full({4, 3}, 3.0f);
  in.overlap = torch::tensor({{1.0f, 0.0f, 2.0f}}).expand({4, 3});
  auto memory = world->blank(4);
  const auto p = world->step(in, memory);
  EXPECT_TRUE(torch::allclose(world->reward_units(p.reward).squeeze(-1), -in.place.select(1, 16), 1e-4, 1e-5));
  EXPECT_TRUE(torch::equal(world->counts_of(p, in.counts)[0], torch::tensor({2.0f, 3.0f, 1.0f})));
  EXPECT_TRUE(torch::equal(p.gone.argmax(-1)[0], torch::tensor({1, 0, 2})));
}

TEST(WorldModel, ClipsToWhatWasSeen) {
  auto world = make(1, false, 1, WorldOptions{});
  EXPECT_FLOAT_EQ(world->clip_reward(torch::tensor({9.0f}), torch::tensor({0})).item<float>(), 9);  // never seen
  world->set_ranges(torch::full({8}, -1), torch::full({8}, 2), torch::tensor({0.0, 1.0, 1.0, 0.0}),
                    torch::tensor({0.5, 0.0, 1.5, 0.0}));
  const auto clipped = world->clip_reward(torch::tensor({9.0f, 9.0f, -9.0f, 9.0f}), torch::tensor({0, 1, 2, 3}));
  EXPECT_TRUE(torch::allclose(clipped, torch::tensor({0.5f, 9.0f, 1.0f, 0.0f})));
  EXPECT_FLOAT_EQ(world->clip_latent(torch::full({1, 8}, 7.0f)).max().item<float>(), 2);
  EXPECT_FLOAT_EQ(world->clip_latent(torch::full({1, 8}, -7.0f)).min().item<float>(), -1);
}

TEST(WorldModel, SymlogThereAndBack) {
  auto world = make(1, false, 1, WorldOptions{});
  world->set_reward_statistics(1, 3);
  const auto x = torch::tensor({-300.0f, -0.2f, 1.0f, 5.0f});
  EXPECT_TRUE(torch::allclose(world->reward_units(world->scale_reward(x)), x, 1e-4, 1e-4));
}

// What a member of the ensemble learns about latents changes nothing that the others read.
TEST(WorldModel, MembersHaveTrunksOfTheirOwn) {
  auto world = make(2, false, 1, WorldOptions{});
  auto memory = world->blank(2);
  world->sequence(input(3, 2), memory).members.select(2, 0).sum().backward();
  for (const auto& item : world->named_parameters()) {
    const auto grad = item.value().grad();
    const bool touched = grad.defined() && grad.abs().sum().item<float>() > 0;
    EXPECT_EQ(item.key().starts_with("members"), touched) << item.key();
  }
}

// The controller's view of a state stays while the model trains on.
TEST(WorldModel, TheViewStaysOnceFrozen) {
  auto world = make(1, false, 1, WorldOptions{});
  const auto raw = torch::randn({1, 8}), h = torch::zeros({1, 16});
  world->set_latent_statistics(torch::ones({8}), torch::full({8}, 2.0f));
  world->freeze_view();
  const auto before = world->view(world->standardise(raw), h);
  world->set_latent_statistics(torch::full({8}, -3.0f), torch::full({8}, 0.5f));
  world->freeze_view();
  EXPECT_TRUE(torch::allclose(world->view(world->standardise(raw), h), before, 1e-4, 1e-4));
  EXPECT_TRUE(torch::allclose(before, (raw - 1) / 2, 1e-4, 1e-4));
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
    const auto one = world->step({all.z[0].slice(0, b, b + 1),
                                  all.counts[0].slice(0, b, b + 1),
                                  all.rule[0].slice(0, b, b + 1),
                                  all.location[0].slice(0, b, b + 1),
                                  {},
                                  {}},
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
  p.log_count = torch::tensor({{1.1f, 1.1f, 9.0f}});  // exp(1.1) - 1 = 2.004
  const auto counts = torch::zeros({1, 3});           // max_locations is 3
  EXPECT_TRUE(torch::equal(world->counts_of(p, counts), torch::tensor({{2.0f, 0.0f, 3.0f}})));
}

TEST(WorldModel, StandardisesThereAndBack) {
  auto world = make();
  world->set_reward_statistics(2, 4);
  EXPECT_FLOAT_EQ(world->scale_reward(torch::tensor(6.0f)).item<float>(), 1);
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
  o = {};
  o.counts = CountModel::log;  // a list of locations needs whole numbers
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

// A state with two locations of rule 0 and one of rule 2: z, then embeddings of 16, change of cost, estimate.
mdp::Observation with_places(std::vector<float> changes) {
  mdp::Observation o;
  o.counts = {2, 0, 1};
  o.latent.assign(8, 0.3f);
  for (const float change : changes) {
    o.latent.insert(o.latent.end(), 16, change);
    o.latent.insert(o.latent.end(), {change, 0});
  }
  return o;
}

// Untrained it is a heat bath, and played greedily it is greedy search: locations are distinguished by what they save.
TEST(LatentAgent, SeesWhatLocationsSave) {
  auto world = make(1, false, 1, WorldOptions{});
  LatentAgent agent(world->spec(), LatentAgentOptions{.width = 16, .beta = 2}, 5);
  const auto o = with_places({-0.25f, -1.0f, 0.5f});
  const auto batch = collate(o, agent->spec());
  EXPECT_EQ(agent->act(batch, {}, true).actions[0], (mdp::Action{0, 1}));
  const mdp::Action actions[] = {{0, 1}};
  const double sum = std::exp(0.5) + std::exp(2.0) + std::exp(-1.0) + 1;
  EXPECT_NEAR(agent->evaluate(batch, actions).log_prob().item<double>(), std::log(std::exp(2.0) / sum), 1e-4);
  const auto worse = with_places({0.25f, 1.0f, 0.5f});
  EXPECT_EQ(agent->act(collate(worse, agent->spec()), {}, true).actions[0].rule, 3);  // nothing saves: NO-OP
}

TEST(LatentAgent, ABatchOfSeveralListsIsEachAlone) {
  auto world = make(1, false, 1, WorldOptions{});
  LatentAgent agent(world->spec(), LatentAgentOptions{.width = 16}, 5);
  torch::NoGradGuard no_grad;
  for (auto& p : agent->parameters()) p.add_(0.05 * torch::ones_like(p));
  const std::vector<mdp::Observation> all = {with_places({-0.2f, 0.1f, 0.3f}), with_places({0.4f, -0.6f, 0.0f})};
  const mdp::Observation* const both[] = {&all[0], &all[1]};
  const mdp::Action actions[] = {{0, 1}, {2, 0}};
  const auto together = agent->evaluate(collate(both, agent->spec()), actions).log_prob();
  for (size_t i = 0; i < 2; ++i) {
    const auto alone = agent->evaluate(collate(all[i], agent->spec()), {&actions[i], 1}).log_prob();
    EXPECT_NEAR(together[static_cast<int64_t>(i)].item<double>(), alone.item<double>(), 1e-5);
  }
}

TEST(LatentAgent, NeedsLatents) { EXPECT_THROW(LatentAgent(test::HillToy().spec(), LatentAgentOptions{}, 1), Error); }

}  // namespace
}  // namespace rlgo::nets

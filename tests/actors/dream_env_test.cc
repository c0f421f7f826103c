#include "actors/dream_env.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "actors/collector.h"
#include "actors/latent_env.h"
#include "core/base/error.h"
#include "tests/support/toy_env.h"

namespace rlgo::actors {
namespace {

using test::HillToy;

std::shared_ptr<Dreamer> make(int ensemble = 1) {
  nets::WorldOptions o;  // the published form
  o.locations = o.own_trunks = o.ranges = false;
  o.counts = nets::CountModel::log;
  o.reward_scale = nets::RewardScale::linear;
  o.encoder = {.rounds = 1, .width = 8};
  o.hidden = 16;
  o.mixtures = 3;
  o.ensemble = ensemble;
  auto d = std::make_shared<Dreamer>(HillToy().spec(), o, nets::LatentAgentOptions{.width = 16}, 1);
  d->act_at_random = false;
  d->starts = {torch::zeros({2, 8}), torch::zeros({2, 16}), torch::zeros({2, 16}),
               torch::tensor({{2.0f, 1.0f, 0.0f}, {1.0f, 0.0f, 3.0f}})};
  return d;
}

class Keep : public Sink {
 public:
  void on_trajectory(mdp::Trajectory t) override { all.push_back(std::move(t)); }
  void on_lost(const LostEpisode& lost) override { ADD_FAILURE() << lost.what; }
  std::vector<mdp::Trajectory> all;
};

std::vector<mdp::Trajectory> dream(std::shared_ptr<Dreamer> d, DreamOptions options, uint64_t seed = 3,
                                   int64_t episodes = 12) {
  DreamEnv env(d, options);
  DreamerPolicy policy(d);
  Keep keep;
  CollectorOptions c;
  c.seed = seed;
  c.dream = true;
  c.step_together = true;
  Collector collector(env, policy, keep, c);
  while (collector.round([&] { return collector.next_episode() < episodes; }) > 0) {
  }
  std::sort(keep.all.begin(), keep.all.end(), [](const auto& a, const auto& b) { return a.episode < b.episode; });
  return std::move(keep.all);
}

TEST(DreamEnv, IsDeterministicUnderASeed) {
  const auto d = make();
  const auto a = dream(d, {.batch = 4, .max_steps = 10}), b = dream(d, {.batch = 4, .max_steps = 10}),
             c = dream(d, {.batch = 4, .max_steps = 10}, 4);
  ASSERT_EQ(a.size(), 12u);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(mdp::encode(a[i]), mdp::encode(b[i])) << i;
  EXPECT_NE(mdp::encode(a[0]), mdp::encode(c[0]));
}

TEST(DreamEnv, ObservationsAreLatentsAndCountsAlone) {
  const auto d = make();
  for (const auto& t : dream(d, {.batch = 4, .max_steps = 6})) {
    EXPECT_TRUE(t.dream);
    EXPECT_EQ(t.spec_hash, HillToy().spec().hash());
    EXPECT_LE(t.steps.size(), 6u);
    EXPECT_EQ(t.terminal, t.steps.size() < 6u || t.steps.back().action.rule == 3 || t.terminal);
    for (const auto& step : t.steps) {
      EXPECT_TRUE(mdp::is_dreamed(step.observation));
      EXPECT_NO_THROW(mdp::check(step.observation, d->spec()));
      if (step.action.rule == 3) continue;
      EXPECT_LT(step.action.location, step.observation.counts[static_cast<size_t>(step.action.rule)]);
    }
  }
}

TEST(DreamEnv, NoOpEndsAndIllegalActionsAreErrors) {
  DreamEnv env(make(), {.batch = 2, .max_steps = 10, .temperature = 0});
  const auto first = env.reset(0, 1);
  EXPECT_GT(first.counts[0], 0);
  EXPECT_THROW(env.step({0}, {{0, 7}}), Error);
  EXPECT_THROW(env.step({0}, {{4, 0}}), Error);
  EXPECT_TRUE(env.step({0}, {{3, 0}})[0].terminal);
}

TEST(DreamEnv, AnEpisodeDoesNotDependOnItsCompany) {
  const auto d = make();
  DreamEnv alone(d, {.batch = 1}), among(d, {.batch = 3});
  alone.reset(0, 5);
  for (int i = 0; i < 3; ++i) among.reset(i, static_cast<uint64_t>(5 + i));
  const auto a = alone.step({0}, {{0, 0}})[0];
  const auto b = among.step({0, 1, 2}, {{0, 0}, {0, 0}, {0, 0}})[0];
  EXPECT_NEAR(a.reward, b.reward, 1e-4);
  for (size_t i = 0; i < a.observation.latent.size(); ++i)
    EXPECT_NEAR(a.observation.latent[i], b.observation.latent[i], 1e-4);
}

TEST(DreamEnv, ThePenaltyIsTheEnsemblesDisagreement) {
  EXPECT_THROW(DreamEnv(make(), {.penalty = 1}), Error);
  const auto d = make(3);
  DreamEnv free(d, {.batch = 1, .temperature = 0}), priced(d, {.batch = 1, .temperature = 0, .penalty = 2});
  free.reset(0, 5);
  priced.reset(0, 5);
  EXPECT_GT(free.step({0}, {{0, 0}})[0].reward, priced.step({0}, {{0, 0}})[0].reward + 0.01f);
}

// In units of the reward: ten times the spread of rewards costs ten times as much.
TEST(DreamEnv, ThePenaltyIsInUnitsOfTheReward) {
  const auto penalty = [](double deviation) {
    const auto d = make(3);
    d->world->set_reward_statistics(0, deviation);
    DreamEnv free(d, {.batch = 1, .temperature = 0}), priced(d, {.batch = 1, .temperature = 0, .penalty = 1});
    free.begin(0, 5, 0);
    priced.begin(0, 5, 0);
    return free.step({0}, {{0, 0}})[0].reward - priced.step({0}, {{0, 0}})[0].reward;
  };
  EXPECT_NEAR(penalty(10) / penalty(1), 10, 1e-2);
}

// A model that sees locations, at the start of a HillToy: trim and expand, at nodes 0 and 1.
std::shared_ptr<Dreamer> with_locations() {
  nets::WorldOptions o;
  o.encoder = {.rounds = 1, .width = 8, .block = nets::Block::local};
  o.hidden = 16;
  auto d = std::make_shared<Dreamer>(HillToy().spec(), o, nets::LatentAgentOptions{.width = 16}, 1);
  d->act_at_random = false;
  std::vector<std::unique_ptr<mdp::Env>> list;
  list.push_back(std::make_unique<HillToy>());
  LatentEnv env(mdp::make_batch(std::move(list)), d);
  auto first = env.reset(0, 1);
  const std::span<const float> places = std::span<const float>(first.latent).subspan(8);
  d->starts = {torch::tensor(std::vector<float>(first.latent.begin(), first.latent.begin() + 8)).unsqueeze(0),
               torch::zeros({1, 16}),
               torch::zeros({1, 16}),
               torch::tensor({{1.0f, 1.0f, 0.0f}}),
               {}};
  d->starts.menus.emplace_back(first, places, 18);
  return d;
}

// The menu depletes: before any training each action takes its location away, and a dream ends with the last one.
TEST(DreamEnv, TheMenuDepletes) {
  DreamEnv env(with_locations(), {.batch = 2, .max_steps = 10, .temperature = 0});
  env.reset(0, 1);
  const auto second = env.reset(1, 2);
  EXPECT_EQ(second.counts, (std::vector<int32_t>{1, 1, 0}));
  EXPECT_EQ(second.latent.size(), 8u + 2 * 18);
  const auto one = env.step({0, 1}, {{0, 0}, {1, 0}});
  EXPECT_EQ(one[0].observation.counts, (std::vector<int32_t>{0, 1, 0}));
  EXPECT_EQ(one[1].observation.counts, (std::vector<int32_t>{1, 0, 0}));
  EXPECT_FALSE(one[0].terminal);
  EXPECT_NO_THROW(mdp::check(one[0].observation, env.spec()));
  EXPECT_TRUE(env.step({0}, {{1, 0}})[0].terminal);
}

TEST(DreamEnv, DreamsOfListsAreDeterministicAndGoThroughBytes) {
  const auto a = with_locations(), b = with_locations();
  b->starts = {};
  b->unpack(a->pack());
  const auto one = dream(a, {.batch = 4, .max_steps = 6}), two = dream(b, {.batch = 4, .max_steps = 6});
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(mdp::encode(one[i]), mdp::encode(two[i])) << i;
}

TEST(DreamEnv, NeedsAStart) {
  const auto d = make();
  d->starts = {};
  DreamEnv env(d, {.batch = 1});
  EXPECT_THROW(env.reset(0, 1), Error);
}

// Without NO-OP random play continues to the step limit.
TEST(RandomPolicy, StopsAtNothingWhereItIsAskedTo) {
  mdp::Observation o, stuck;
  o.counts = {2, 1, 0};
  stuck.counts = {0, 0, 0};
  Rng rng({1});
  Rng* const rngs[] = {&rng};
  RandomPolicy on(false);
  const mdp::Observation* const one[] = {&o};
  for (int i = 0; i < 200; ++i) EXPECT_LT(on.act(one, rngs)[0].action.rule, 3);
  EXPECT_FLOAT_EQ(on.act(one, rngs)[0].log_prob_rule, -std::log(2.0f));
  const mdp::Observation* const none[] = {&stuck};
  EXPECT_EQ(on.act(none, rngs)[0].action.rule, 3);
}

TEST(Dreamer, GoesThroughBytes) {
  const auto a = make(), b = make();
  a->may_dream = true;
  torch::NoGradGuard no_grad;
  a->agent->parameters()[0].add_(1);
  b->unpack(a->pack());
  EXPECT_TRUE(b->may_dream);
  EXPECT_TRUE(torch::equal(a->agent->parameters()[0], b->agent->parameters()[0]));
  EXPECT_TRUE(torch::equal(a->starts.counts, b->starts.counts));
  EXPECT_THROW(b->unpack("nonsense"), Error);
}

// An episode that began at random continues at random, whatever plays next to it, and does not touch the others.
TEST(DreamerPolicy, EpisodesWithoutLatentsGoOnAtRandom) {
  const auto d = make();
  DreamerPolicy policy(d);
  mdp::Observation seeing, blind;
  seeing.counts = blind.counts = {2, 1, 0};
  seeing.latent.assign(24, 0.3f);
  Rng a({1}), b({2}), c({1}), e({2});
  const mdp::Observation* const both[] = {&blind, &seeing};
  Rng* const rngs[] = {&a, &b};
  const auto together = policy.act(both, rngs);
  const mdp::Observation* const alone[] = {&seeing};
  Rng* const own[] = {&e};
  EXPECT_EQ(together[1].log_prob_rule, policy.act(alone, own)[0].log_prob_rule);
  const mdp::Observation* const first[] = {&blind};
  Rng* const same[] = {&c};
  EXPECT_EQ(together[0].action, RandomPolicy().act(first, same)[0].action);
  EXPECT_FLOAT_EQ(together[0].log_prob_rule, -std::log(3.0f));
}

// Real episodes carry the latents that the world model computes along the way; at random they carry none.
TEST(LatentEnv, AddsLatentsToRealObservations) {
  const auto d = make();
  std::vector<std::unique_ptr<mdp::Env>> list;
  list.push_back(std::make_unique<HillToy>());
  LatentEnv env(mdp::make_batch(std::move(list)), d);
  const auto first = env.reset(0, 1);
  ASSERT_EQ(first.latent.size(), 24u);
  EXPECT_FLOAT_EQ(first.latent[8], 0);  // blank memory
  const auto next = env.step({0}, {{0, 0}})[0].observation;
  EXPECT_NE(next.latent[8], 0);
  EXPECT_FALSE(next.node_op.empty());
  d->act_at_random = true;
  EXPECT_TRUE(env.reset(0, 1).latent.empty());
}

}  // namespace
}  // namespace rlgo::actors

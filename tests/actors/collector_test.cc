#include "actors/collector.h"

#include <gtest/gtest.h>

#include <cmath>

#include "actors/evaluation.h"
#include "core/base/error.h"
#include "tests/support/toy_env.h"

namespace rlgo::actors {
namespace {

class Keep : public Sink {
 public:
  void on_trajectory(mdp::Trajectory trajectory) override { trajectories.push_back(std::move(trajectory)); }
  void on_lost(const LostEpisode& episode) override { lost.push_back(episode); }
  std::vector<mdp::Trajectory> trajectories;
  std::vector<LostEpisode> lost;
};

// Throws at some steps or resets, counted over the life of the environment.
class FragileEnv : public test::PathToy {
 public:
  FragileEnv(int bad_reset, int bad_step) : PathToy(9, 5), bad_reset_(bad_reset), bad_step_(bad_step) {}
  mdp::Observation reset(uint64_t key) override {
    if (resets_++ == bad_reset_ || bad_reset_ == -2) throw std::runtime_error("no graph today");
    return PathToy::reset(key);
  }
  mdp::StepResult step(mdp::Action action) override {
    if (steps_++ == bad_step_) fail("boom at step {}", bad_step_);
    return PathToy::step(action);
  }

 private:
  int bad_reset_, bad_step_, resets_ = 0, steps_ = 0;
};

template <typename Env, typename... Args>
std::unique_ptr<mdp::BatchEnv> batch(int count, Args... args) {
  std::vector<std::unique_ptr<mdp::Env>> envs;
  for (int i = 0; i < count; ++i) envs.push_back(std::make_unique<Env>(args...));
  return mdp::make_batch(std::move(envs));
}

// Plays `episodes` episodes with the random policy.
Keep play(mdp::BatchEnv& envs, int64_t episodes, CollectorOptions options = {}) {
  RandomPolicy policy;
  Keep keep;
  Collector collector(envs, policy, keep, options);
  while (collector.round([&] { return collector.next_episode() < options.first_episode + episodes; }) > 0) {
  }
  EXPECT_EQ(collector.running(), 0);
  return keep;
}

TEST(Collector, EpisodesAreWholeAndNamed) {
  const auto envs = batch<test::PathToy>(3, 9, 5);
  CollectorOptions options;
  options.seed = 7;
  options.rank = 2;
  options.first_episode = 100;
  const auto keep = play(*envs, 20, options);
  ASSERT_EQ(keep.trajectories.size(), 20u);
  std::vector<bool> seen(20);
  for (const auto& t : keep.trajectories) {
    EXPECT_EQ(t.seed, 7u);
    EXPECT_EQ(t.rank, 2);
    seen.at(static_cast<size_t>(t.episode - 100)) = true;
    EXPECT_EQ(t.weights_version, -1);
    EXPECT_EQ(t.spec_hash, envs->spec().hash());
    EXPECT_EQ(t.initial_cost_us, 100);
    ASSERT_FALSE(t.steps.empty());
    EXPECT_LE(t.steps.size(), 5u);
    double total = 0, best = 100;
    for (const auto& step : t.steps) {
      total += step.reward;
      best = std::min(best, step.info.cost_us);
    }
    EXPECT_NEAR(t.steps.back().info.cost_us, 100 - total, 1e-4);
    EXPECT_EQ(t.best_cost_us, best);
    EXPECT_EQ(t.terminal, t.steps.back().action.rule == 2 || t.steps.back().reward > 0);
    mdp::check(t.last, envs->spec());
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 20);
}

TEST(Collector, AnEpisodeDoesNotDependOnItsNeighbours) {
  const auto one = batch<test::MaskedToy>(1, 20);
  const auto four = batch<test::MaskedToy>(4, 20);
  auto a = play(*one, 8).trajectories;
  auto b = play(*four, 8).trajectories;
  const auto by_episode = [](const auto& x, const auto& y) { return x.episode < y.episode; };
  std::sort(a.begin(), a.end(), by_episode);
  std::sort(b.begin(), b.end(), by_episode);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].steps.size(), b[i].steps.size());
    for (size_t k = 0; k < a[i].steps.size(); ++k) {
      EXPECT_EQ(a[i].steps[k].action, b[i].steps[k].action);
      EXPECT_EQ(a[i].steps[k].observation, b[i].steps[k].observation);
    }
  }
}

TEST(Collector, SeedAndRankChangeTheEpisodes) {
  EXPECT_NE(episode_key(1, 2, 3), episode_key(1, 3, 2));
  EXPECT_NE(episode_key(1, 2, 3), episode_key(2, 1, 3));
  EXPECT_NE(episode_key(0, 0, 1), episode_key(0, 0, 2));
  EXPECT_EQ(episode_key(5, 6, 7), episode_key(5, 6, 7));
}

TEST(Collector, AnExceptionCostsOneEpisode) {
  std::vector<std::unique_ptr<mdp::Env>> list;
  list.push_back(std::make_unique<FragileEnv>(1, 6));
  list.push_back(std::make_unique<FragileEnv>(-1, -1));
  const auto envs = mdp::make_batch(std::move(list));
  CollectorOptions options;
  options.seed = 3;
  options.rank = 4;
  const auto keep = play(*envs, 30, options);
  ASSERT_EQ(keep.lost.size(), 2u);
  EXPECT_EQ(keep.trajectories.size(), 28u);
  for (const auto& lost : keep.lost) {
    EXPECT_EQ(lost.seed, 3u);
    EXPECT_EQ(lost.rank, 4);
    for (const auto& t : keep.trajectories) EXPECT_NE(t.episode, lost.episode);
  }
  EXPECT_NE(keep.lost[0].what.find("no graph today"), std::string::npos);
  EXPECT_NE(keep.lost[1].what.find("boom at step 6"), std::string::npos);
}

// Has a number that is none in step 3 of every second episode.
class NanEnv : public test::EndlessToy {
 public:
  explicit NanEnv(char where) : EndlessToy(8), where_(where) {}
  mdp::Observation reset(uint64_t key) override {
    steps_ = 0;
    ++episodes_;
    return EndlessToy::reset(key);
  }
  mdp::StepResult step(mdp::Action action) override {
    auto result = EndlessToy::step(action);
    if (++steps_ != 3 || episodes_ % 2 == 0) return result;
    if (where_ == 'r') result.reward = std::nanf("");
    if (where_ == 'o') result.observation.node_feat[0] = INFINITY;
    if (where_ == 'c') result.info.cost_us = std::nan("");
    return result;
  }

 private:
  char where_;
  int steps_ = 0, episodes_ = 0;
};

TEST(Collector, NumbersThatAreNoneCostTheirEpisode) {
  class Onward : public RandomPolicy {  // never stops
    std::vector<Decision> act(std::span<const mdp::Observation* const> o, std::span<Rng* const>) override {
      return std::vector<Decision>(o.size());
    }
  } onward;
  for (const auto& [where, what] : {std::pair{'r', "reward"}, {'o', "node_feat[0] is inf"}, {'c', "cost is nan"}}) {
    std::vector<std::unique_ptr<mdp::Env>> list;
    list.push_back(std::make_unique<NanEnv>(where));
    const auto envs = mdp::make_batch(std::move(list));
    Keep keep;
    Collector collector(*envs, onward, keep, {});
    while (keep.trajectories.size() < 3) collector.round([] { return true; });
    ASSERT_EQ(keep.lost.size(), 3u);
    EXPECT_NE(keep.lost[0].what.find(what), std::string::npos) << keep.lost[0].what;
    for (const auto& t : keep.trajectories) EXPECT_EQ(t.steps.size(), 8u);
  }
}

TEST(Collector, SteppedTogetherAllAreLost) {
  std::vector<std::unique_ptr<mdp::Env>> list;
  list.push_back(std::make_unique<test::EndlessToy>(16));
  list.push_back(std::make_unique<test::EndlessToy>(16));
  const auto envs = mdp::make_batch(std::move(list));
  class Stubborn : public RandomPolicy {  // action 5 does not exist
    std::vector<Decision> act(std::span<const mdp::Observation* const> o, std::span<Rng* const>) override {
      std::vector<Decision> decisions(o.size());
      decisions.back().action.rule = 5;
      return decisions;
    }
  } policy;
  Keep keep;
  CollectorOptions options;
  options.step_together = true;
  Collector collector(*envs, policy, keep, options);
  EXPECT_EQ(collector.round([] { return true; }), 2);
  EXPECT_EQ(keep.lost.size(), 2u);
  EXPECT_EQ(collector.running(), 0);
}

TEST(Collector, EnvironmentThatNeverWorksIsAnError) {
  const auto envs = batch<FragileEnv>(2, -2, -1);
  RandomPolicy policy;
  Keep keep;
  CollectorOptions options;
  options.max_lost_in_a_row = 5;
  Collector collector(*envs, policy, keep, options);
  EXPECT_THROW(collector.round([] { return true; }), Error);
  EXPECT_EQ(keep.lost.size(), 6u);
}

TEST(Collector, TruncatedEpisodesAreBootstrapped) {
  class Knowing : public RandomPolicy {
    std::vector<Decision> act(std::span<const mdp::Observation* const> o, std::span<Rng* const>) override {
      return std::vector<Decision>(o.size(), Decision{{0, 0}, -0.5f, -0.25f, 1.5f, 2.5f});
    }
    std::vector<float> value(std::span<const mdp::Observation* const> o) override {
      return std::vector<float>(o.size(), 7.0f);
    }
    int64_t version() const override { return 12; }
  } policy;
  const auto envs = batch<test::EndlessToy>(1, 3);
  Keep keep;
  Collector collector(*envs, policy, keep, {});
  while (collector.round([&] { return collector.next_episode() < 1; }) > 0) {
  }
  ASSERT_EQ(keep.trajectories.size(), 1u);
  const auto& t = keep.trajectories[0];
  EXPECT_EQ(t.steps.size(), 3u);
  EXPECT_FALSE(t.terminal);
  EXPECT_EQ(t.last_value_rule, 7.0f);
  EXPECT_EQ(t.weights_version, 12);
  EXPECT_EQ(t.steps[1].log_prob_rule, -0.5f);
  EXPECT_EQ(t.steps[1].log_prob_location, -0.25f);
  EXPECT_EQ(t.steps[1].value_rule, 1.5f);
  EXPECT_EQ(t.steps[1].value_location, 2.5f);
}

class KeepCoded : public CodedSink {
 public:
  void on_trajectory(mdp::CodedTrajectory trajectory) override { trajectories.push_back(std::move(trajectory)); }
  void on_lost(const LostEpisode&) override { ++lost; }
  std::vector<mdp::CodedTrajectory> trajectories;
  int lost = 0;
};

TEST(Collector, EpisodesThatAreCodedAsTheyComeAreTheSame) {
  for (const int bad_step : {-1, 7}) {
    const auto envs = batch<FragileEnv>(3, -1, bad_step);
    const auto whole = play(*envs, 20);
    RandomPolicy policy;
    KeepCoded keep;
    const auto same_envs = batch<FragileEnv>(3, -1, bad_step);
    Collector collector(*same_envs, policy, keep, {});
    while (collector.round([&] { return collector.next_episode() < 20; }) > 0) {
    }
    EXPECT_EQ(keep.lost, bad_step < 0 ? 0 : 3);
    ASSERT_EQ(keep.trajectories.size(), whole.trajectories.size());
    for (size_t i = 0; i < keep.trajectories.size(); ++i) {
      auto expected = whole.trajectories[i];
      auto coded = keep.trajectories[i];
      for (size_t k = 0; k < expected.steps.size(); ++k)
        coded.facts.steps[k].info.step_us = expected.steps[k].info.step_us;
      EXPECT_TRUE(coded.facts.steps.at(0).observation.node_op.empty());
      EXPECT_EQ(mdp::encode(coded), mdp::encode(expected)) << i;
      EXPECT_EQ(mdp::whole(std::move(coded)).last, expected.last);
    }
  }
}

TEST(Collector, CountsAndAbandons) {
  const auto envs = batch<test::EndlessToy>(2, 100);
  class On : public RandomPolicy {
    std::vector<Decision> act(std::span<const mdp::Observation* const> o, std::span<Rng* const>) override {
      return std::vector<Decision>(o.size());
    }
  } policy;
  Keep keep;
  Collector collector(*envs, policy, keep, {});
  const auto always = [] { return true; };
  for (int i = 0; i < 7; ++i) EXPECT_EQ(collector.round(always), 2);
  EXPECT_EQ(collector.running_steps(), 14);
  EXPECT_EQ(collector.running_steps(1), 7);
  collector.abandon();
  EXPECT_EQ(collector.running(), 0);
  EXPECT_EQ(collector.stats().steps, 14);
  EXPECT_TRUE(keep.trajectories.empty());
}

TEST(RandomPolicy, ProbabilitiesAreExactAndUniform) {
  mdp::Observation observation;
  observation.counts = {0, 2, 0, 4};
  const mdp::Observation* pointer = &observation;
  RandomPolicy policy;
  Rng rng{1};
  Rng* stream = &rng;
  std::map<std::pair<int, int>, int> seen;
  for (int i = 0; i < 12000; ++i) {
    const auto d = policy.act({&pointer, 1}, {&stream, 1}).at(0);
    ++seen[{d.action.rule, d.action.location}];
    EXPECT_FLOAT_EQ(d.log_prob_rule, -std::log(3.0f));
    EXPECT_FLOAT_EQ(d.log_prob_location,
                    d.action.rule == 4
                        ? 0.0f
                        : -std::log(static_cast<float>(observation.counts[static_cast<size_t>(d.action.rule)])));
  }
  ASSERT_EQ(seen.size(), 7u);  // 2 + 4 locations and NO-OP
  EXPECT_NEAR((seen[{4, 0}]), 4000, 250);
  EXPECT_NEAR((seen[{1, 1}]), 2000, 200);
  EXPECT_NEAR((seen[{3, 3}]), 1000, 150);
}

TEST(RandomPolicy, WithoutLegalRulesItStops) {
  mdp::Observation observation;
  observation.counts = {0, 0};
  const mdp::Observation* pointer = &observation;
  Rng rng{1};
  Rng* stream = &rng;
  RandomPolicy policy;
  const auto d = policy.act({&pointer, 1}, {&stream, 1}).at(0);
  EXPECT_EQ(d.action, (mdp::Action{2, 0}));
  EXPECT_EQ(d.log_prob_rule, 0.0f);
}

TEST(Evaluation, KnowsTheOptimumOfThePath) {
  class Runner : public RandomPolicy {  // two cells ahead where possible
    std::vector<Decision> act(std::span<const mdp::Observation* const> o, std::span<Rng* const>) override {
      EXPECT_TRUE(greedy());
      std::vector<Decision> decisions;
      for (const auto* observation : o) decisions.push_back({{0, observation->counts[0] - 1}, 0, 0, 0, 0});
      return decisions;
    }
  } policy;
  const auto envs = batch<test::PathToy>(2, 9, 40);
  const auto report = evaluate(*envs, policy, {.seed = 1, .episodes = 5});
  EXPECT_EQ(report.episodes, 5);
  EXPECT_EQ(report.terminal, 5);
  EXPECT_EQ(report.steps, 20);
  EXPECT_EQ(report.total_reward.mean, 6);
  EXPECT_EQ(report.total_reward.deviation, 0);
  EXPECT_EQ(report.length.max, 4);
  EXPECT_EQ(report.final_cost_us.mean, 94);
  EXPECT_EQ(report.best.best_cost_us, 94);
  EXPECT_FALSE(policy.greedy());
}

TEST(Evaluation, CountsLostEpisodesAndEnds) {
  const auto envs = batch<FragileEnv>(1, 2, 0);
  RandomPolicy policy;
  const auto report = evaluate(*envs, policy, {.seed = 1, .episodes = 6});
  EXPECT_EQ(report.lost, 2);
  EXPECT_EQ(report.episodes, 4);
}

TEST(Evaluation, Spread) {
  const auto spread = Spread::of({1, 2, 3, 4});
  EXPECT_EQ(spread.mean, 2.5);
  EXPECT_NEAR(spread.deviation, 1.2909944, 1e-6);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.max, 4);
  EXPECT_EQ(Spread::of({}).mean, 0);
  EXPECT_EQ(Spread::of({5}).deviation, 0);
}

}  // namespace
}  // namespace rlgo::actors

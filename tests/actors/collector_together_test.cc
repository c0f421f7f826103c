// Episodes that begin, step and end by one call each.
#include <gtest/gtest.h>

#include "actors/collector.h"
#include "core/base/error.h"
#include "tests/support/toy_env.h"

namespace rlgo::actors {
namespace {

struct Keep : Sink {
  void on_trajectory(mdp::Trajectory trajectory) override { trajectories.push_back(std::move(trajectory)); }
  void on_lost(const LostEpisode& episode) override { lost.push_back(episode); }
  std::vector<mdp::Trajectory> trajectories;
  std::vector<LostEpisode> lost;
};

std::unique_ptr<mdp::BatchEnv> three() {
  std::vector<std::unique_ptr<mdp::Env>> envs;
  for (int i = 0; i < 3; ++i) envs.push_back(std::make_unique<test::EndlessToy>(2));
  return mdp::make_batch(std::move(envs));
}

// Stepped together, episodes also begin by one call, and what they are cut off at is valued by one where that costs
// less; each gets its own.
TEST(Collector, EpisodesBeginAndEndTogether) {
  struct Counted : mdp::BatchEnv, BeginsTogether {
    const mdp::ObservationSpec& spec() const override { return envs->spec(); }
    int size() const override { return envs->size(); }
    mdp::Observation reset(int index, uint64_t key) override { return envs->reset(index, key); }
    std::vector<mdp::Observation> reset_together(const std::vector<int>& indices,
                                                 const std::vector<uint64_t>& keys) override {
      begun.push_back(static_cast<int>(indices.size()));
      if (begun.size() == 1) fail("not today");
      std::vector<mdp::Observation> observations;
      for (size_t i = 0; i < indices.size(); ++i) observations.push_back(reset(indices[i], keys[i]));
      return observations;
    }
    std::vector<mdp::StepResult> step(const std::vector<int>& indices,
                                      const std::vector<mdp::Action>& actions) override {
      return envs->step(indices, actions);
    }
    std::unique_ptr<mdp::BatchEnv> envs = three();
    std::vector<int> begun;
  } envs;
  struct Knowing : RandomPolicy {
    std::vector<Decision> act(std::span<const mdp::Observation* const> o, std::span<Rng* const>) override {
      return std::vector<Decision>(o.size(), Decision{{0, 0}, -0.5f, -0.25f, 1.5f, 2.5f});
    }
    std::vector<float> value(std::span<const mdp::Observation* const> o) override {
      asked.push_back(static_cast<int>(o.size()));
      std::vector<float> values;
      for (size_t i = 0; i < o.size(); ++i) values.push_back(static_cast<float>(10 * asked.size() + i));
      return values;
    }
    bool values_together() const override { return together; }
    bool together = false;
    std::vector<int> asked;
  } policy;
  for (const bool together : {true, false}) {
    policy.together = together;
    policy.asked.clear();
    envs.begun.clear();
    Keep keep;
    CollectorOptions options;
    options.step_together = true;
    Collector collector(envs, policy, keep, options);
    while (collector.round([&] { return collector.next_episode() < 9; }) > 0) {
    }
    EXPECT_EQ(envs.begun, (std::vector<int>{3, 3, 3}));
    EXPECT_EQ(keep.lost.size(), 3u);
    EXPECT_EQ(policy.asked, together ? (std::vector<int>{3, 3}) : std::vector<int>(6, 1));
    ASSERT_EQ(keep.trajectories.size(), 6u);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(keep.trajectories[i].episode, static_cast<int64_t>(3 + i));
      EXPECT_EQ(keep.trajectories[i].last_value_rule, together ? 10 * (1 + i / 3) + i % 3 : 10 * (1 + i));
    }
  }
}

}  // namespace
}  // namespace rlgo::actors

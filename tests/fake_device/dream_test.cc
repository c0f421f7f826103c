// Dreams on a device that counts what crosses to it, and poisons what is read before the host has waited.
#include <gtest/gtest.h>

#include "actors/collector.h"
#include "actors/dream_env.h"
#include "learner/dream/evaluation.h"
#include "tests/fake_device/_fake_device.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::FakeDevice;
using test::HillToy;

// A dreamer with real states to begin from, and the trainer that looks at them.
struct Side {
  Side(bool on_device, bool locations) : dreamer(make(on_device, locations)), trainer(dreamer->world, {}, 5) {
    nets::ActorCritic agent(HillToy().spec(), nets::AgentOptions{.rounds = 1, .width = 16}, 1);
    auto envs = test::copies<HillToy>(4);
    played = test::play(agent, envs, 60, 1);
    dreamer->starts = states_along(pointers(played), trainer, 8).starts;
  }
  static std::shared_ptr<actors::Dreamer> make(bool on_device, bool locations) {
    nets::WorldOptions o;
    o.encoder = {.rounds = 1, .width = 8};
    o.hidden = 16;
    o.mixtures = 2;
    o.locations = locations;
    if (!locations) o.counts = nets::CountModel::log;
    auto dreamer = std::make_shared<actors::Dreamer>(HillToy().spec(), o, nets::LatentAgentOptions{.width = 16}, 1);
    if (on_device) {
      test::to_fake_device(*dreamer->world);
      test::to_fake_device(*dreamer->agent);
    }
    dreamer->act_at_random = false;
    return dreamer;
  }

  std::shared_ptr<actors::Dreamer> dreamer;
  WorldTrainer trainer;
  std::vector<mdp::Trajectory> played;
};

class Keep : public actors::Sink {
 public:
  void on_trajectory(mdp::Trajectory t) override { all[t.episode] = std::move(t); }
  void on_lost(const actors::LostEpisode& lost) override { ADD_FAILURE() << lost.what; }
  std::map<int64_t, mdp::Trajectory> all;
};

std::map<int64_t, mdp::Trajectory> dream(const Side& side, int batch) {
  actors::DreamEnv env(side.dreamer, {.batch = batch, .max_steps = 5});
  actors::DreamerPolicy policy(side.dreamer);
  Keep keep;
  actors::Collector collector(env, policy, keep, {.seed = 3, .dream = true, .step_together = true});
  while (collector.round([&] { return collector.next_episode() < 2 * batch; }) > 0) {
  }
  return std::move(keep.all);
}

class Dreams : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Locations, Dreams, testing::Bool());

TEST_P(Dreams, AreWhatTheHostDreams) {
  const Side here(false, GetParam()), there(true, GetParam());
  const auto a = dream(here, 8), b = dream(there, 8);
  ASSERT_EQ(a.size(), 16u);
  for (const auto& [episode, t] : a) {
    const auto& other = b.at(episode);
    ASSERT_EQ(t.steps.size(), other.steps.size()) << episode;
    EXPECT_EQ(t.terminal, other.terminal);
    for (size_t i = 0; i < t.steps.size(); ++i) {
      EXPECT_EQ(t.steps[i].action, other.steps[i].action) << episode << " step " << i;
      EXPECT_NEAR(t.steps[i].reward, other.steps[i].reward, 1e-4);
      EXPECT_NEAR(t.steps[i].value_rule, other.steps[i].value_rule, 1e-4);
      EXPECT_EQ(t.steps[i].observation.counts, other.steps[i].observation.counts);
    }
  }
}

// What the host asks of the device does not grow with the number of dreams, and nothing that it gives waits.
TEST_P(Dreams, AStepCrossesAsOftenForManyAsForFew) {
  const Side side(true, GetParam());
  const auto of = [&](int batch) {
    actors::DreamEnv env(side.dreamer, {.batch = batch, .max_steps = 5});
    std::vector<int> all;
    std::vector<mdp::Action> actions;
    for (int i = 0; i < batch; ++i) {
      const auto seen = env.reset(i, static_cast<uint64_t>(i));
      all.push_back(i);
      int32_t rule = 0;
      while (rule < std::ssize(seen.counts) && seen.counts[static_cast<size_t>(rule)] == 0) ++rule;
      actions.push_back({rule, 0});
    }
    FakeDevice::reset();
    env.step(all, actions);
    EXPECT_EQ(FakeDevice::blocking, 0);
    EXPECT_EQ(FakeDevice::pageable, 0);
    return std::pair(FakeDevice::to_device.load(), FakeDevice::to_host.load());
  };
  const auto few = of(2), many = of(24);
  EXPECT_EQ(few, many);
  EXPECT_EQ(many.second, GetParam() ? 3 : 1);
}

// What dreams begin with is copied together, and so are the values of those that are cut off.
TEST_P(Dreams, BeginAndEndTogether) {
  const Side side(true, GetParam());
  const auto of = [&](int batch) {
    actors::DreamEnv env(side.dreamer, {.batch = batch, .max_steps = 1});
    actors::DreamerPolicy policy(side.dreamer);
    Keep keep;
    actors::Collector collector(env, policy, keep, {.seed = 3, .dream = true, .step_together = true});
    FakeDevice::reset();
    collector.round([&] { return collector.next_episode() < batch; });
    EXPECT_EQ(FakeDevice::blocking, 0);
    EXPECT_EQ(FakeDevice::pageable, 0);
    EXPECT_EQ(keep.all.size(), static_cast<size_t>(batch));
    int64_t cut = 0;
    for (const auto& [episode, t] : keep.all) cut += t.terminal ? 0 : 1;
    EXPECT_GT(cut, 1);
    return std::pair(FakeDevice::to_device.load(), FakeDevice::to_host.load());
  };
  EXPECT_EQ(of(8), of(32));
}

// All that a run measures of its dreams: scores, drift, returns from real states.
TEST_P(Dreams, AreMeasuredAsOnTheHost) {
  Side here(false, GetParam()), there(true, GetParam());
  const auto a = check_world(*here.dreamer, here.trainer, pointers(here.played), {}, 4);
  const auto b = check_world(*there.dreamer, there.trainer, pointers(there.played), {}, 4);
  EXPECT_EQ(a.states, b.states);
  ASSERT_EQ(a.variants.size(), b.variants.size());
  for (size_t v = 0; v < a.variants.size(); ++v) {
    EXPECT_NEAR(a.variants[v].score.nll, b.variants[v].score.nll, 1e-3);
    EXPECT_NEAR(a.variants[v].score.drift[0], b.variants[v].score.drift[0], 1e-3);
    for (size_t h = 0; h < a.variants[v].returns.size(); ++h)
      EXPECT_NEAR(a.variants[v].returns[h].dream, b.variants[v].returns[h].dream, 1e-2) << h;
  }
}

}  // namespace
}  // namespace rlgo::learner

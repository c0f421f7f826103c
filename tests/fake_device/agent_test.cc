// A whole agent with a world model on the device that poisons what is read too early, next to the same one on the host:
// the same actors' episodes, epoch after epoch.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "actors/collector.h"
#include "actors/latent_env.h"
#include "learner/dream/dream_agent.h"
#include "tests/fake_device/_fake_device.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::FakeDevice;
using test::PathToy;

struct Kind {
  bool hybrid, locations;
};
DreamAgentOptions options(Kind kind) {
  DreamAgentOptions o;
  o.hybrid = kind.hybrid;
  o.world.encoder = {.rounds = 1, .width = 8, .block = nets::Block::local};
  o.world.hidden = 16;
  o.world.mixtures = 2;
  o.world.locations = kind.locations;
  if (!kind.locations) o.world.counts = nets::CountModel::log;
  o.controller.width = 16;
  o.dream.batch = 8;
  o.dream.max_steps = 4;
  o.steps_per_epoch = 32;
  o.evaluate_every = 2;
  o.warmup = 0.1;
  o.threshold = -1;
  o.guard = 0;
  return o;
}

class Side {
 public:
  Side(Kind kind, bool on_device) : actor_(make_dreamer(options(kind), PathToy(7).spec(), 1, torch::kCPU)) {
    auto learns = make_dreamer(options(kind), PathToy(7).spec(), 1, torch::kCPU);
    if (on_device) {
      test::to_fake_device(*learns->world);
      test::to_fake_device(*learns->agent);
    }
    agent_.emplace(DreamAgentInput{
        options(kind), {}, PathToy(7).spec(), learns->world->device(), 1, 100, 40, PathToy(7).reset(1), {}, learns});
  }

  std::map<std::string, double> epoch(int64_t number, double progress) {
    const auto plan = agent_->plan(number, progress, 32);
    actors::DreamerPolicy policy(actor_);
    policy.load(agent_->weights(), number);
    std::vector<std::unique_ptr<mdp::Env>> list;
    for (int i = 0; i < 4; ++i) list.push_back(std::make_unique<PathToy>(7));
    actors::LatentEnv envs(mdp::make_batch(std::move(list)), actor_);
    Keep keep;
    actors::Collector collector(envs, policy, keep, {.seed = static_cast<uint64_t>(number)});
    while (plan.real_steps > 0 && collector.round([&] { return collector.next_episode() < 12; }) > 0) {
    }
    for (const auto& episode : keep.all) agent_->prepare(episode);
    FakeDevice::reset();
    const auto report = agent_->update(std::move(keep.all), {number, progress});
    EXPECT_EQ(FakeDevice::blocking, 0);
    EXPECT_EQ(FakeDevice::pageable, 0);
    return {report.values.begin(), report.values.end()};
  }
  Checkpoint stored() const {
    Checkpoint c;
    agent_->store(c);
    return c;
  }
  void restore(const Checkpoint& c) { agent_->restore(c); }

 private:
  struct Keep : actors::CodedSink {
    void on_trajectory(mdp::CodedTrajectory t) override {
      all.push_back(std::make_shared<const mdp::CodedTrajectory>(std::move(t)));
    }
    void on_lost(const actors::LostEpisode& lost) override { ADD_FAILURE() << lost.what; }
    std::vector<Episode> all;
  };
  std::shared_ptr<actors::Dreamer> actor_;
  std::optional<DreamAgent> agent_;
};

class Agents : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Agents,
                         testing::Values(Kind{false, true}, Kind{false, false}, Kind{true, true}, Kind{true, false}));

TEST_P(Agents, LearnWhatTheHostLearns) {
  Side here(GetParam(), false), there(GetParam(), true);
  const double progress[] = {0.05, 0.6, 0.7, 0.8};
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    const auto a = here.epoch(epoch, progress[epoch]), b = there.epoch(epoch, progress[epoch]);
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, value] : a) {
      ASSERT_TRUE(b.contains(name)) << name;
      EXPECT_EQ(std::isfinite(value), std::isfinite(b.at(name))) << name << " of epoch " << epoch;
      if (epoch > 0 || !std::isfinite(value)) continue;  // later, rounding makes other episodes
      EXPECT_NEAR(value, b.at(name), 1e-2 + 5e-2 * std::abs(value)) << name;
    }
  }
  const auto a = here.stored(), b = there.stored();
  EXPECT_EQ(a.counters, b.counters);
  for (const auto& [name, data] : a.tensors) {
    if (name.starts_with(kOwnPrefix)) continue;
    EXPECT_EQ(data.shape, b.tensors.at(name).shape) << name;
  }
}

// What lies on the device continues as it was stored.
TEST_P(Agents, ContinueFromACheckpoint) {
  Side whole(GetParam(), true), again(GetParam(), true);
  whole.epoch(0, 0.05);
  again.restore(whole.stored());
  EXPECT_EQ(whole.epoch(1, 0.6).at("phase"), again.epoch(1, 0.6).at("phase"));
  EXPECT_EQ(whole.stored().tensors, again.stored().tensors);
}

}  // namespace
}  // namespace rlgo::learner

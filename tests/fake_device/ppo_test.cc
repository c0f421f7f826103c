// An update on a device that counts what crosses to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "actors/network_policy.h"
#include "core/comm/mailbox.h"
#include "core/nets/weights.h"
#include "learner/ppo/trainer.h"
#include "learner/ppo/transitions.h"
#include "tests/fake_device/_fake_device.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using nets::Block;
using test::FakeDevice;
using test::HillToy;

nets::ActorCritic make_agent(Block block) {
  return nets::ActorCritic(HillToy().spec(), nets::AgentOptions{.rounds = 2, .width = 16, .block = block}, 1);
}
std::vector<mdp::Trajectory> play(Block block) {
  auto agent = make_agent(block);
  auto envs = test::copies<HillToy>(4);
  return test::play(agent, envs, 120, 1);
}

struct Case {
  Block block;
  bool distinct;
};
class Device : public testing::TestWithParam<Case> {
 protected:
  struct Copies {
    int64_t to_device, to_host, minibatches;
  };
  // Of an update of `agent`, whose weights are called `version`: 0 is the data's.
  Copies update(nets::ActorCritic& agent, int minibatch, int64_t version) {
    const auto played = play(GetParam().block);
    PpoTrainer trainer(agent.ptr(),
                       {.epochs = 2, .minibatch = minibatch, .distinct_rows = GetParam().distinct, .target_kl = 0});
    trainer.set_weights_version(version);
    Rng shuffle({3});
    FakeDevice::reset();
    const auto stats = trainer.update(played, shuffle);
    EXPECT_EQ(FakeDevice::blocking, 0);  // the host never waits for a copy to the device
    EXPECT_EQ(FakeDevice::pageable, 0);
    return {FakeDevice::to_device, FakeDevice::to_host, stats.minibatches};
  }
};
INSTANTIATE_TEST_SUITE_P(Encoders, Device,
                         testing::Values(Case{Block::full, false}, Case{Block::local, false},
                                         Case{Block::local, true}));

TEST_P(Device, LearnsWhatTheHostLearns) {
  auto here = make_agent(GetParam().block), there = make_agent(GetParam().block);
  test::to_fake_device(*there);
  update(here, 32, 0);
  update(there, 32, 0);
  const auto a = nets::named_tensors(*here), b = nets::named_tensors(*there);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_LT((a[i].second - b[i].second.cpu()).abs().max().item<double>(), 2e-3) << a[i].first;
}

// Actions (two) and inputs of the loss once. Of each pass its order, and of distinct rows integers and numbers; else
// these once, with their offsets. And the columns that a local encoder reads, where it reads observations whole.
TEST_P(Device, CopiesDoNotGrowWithMinibatches) {
  const auto of = [&](int minibatch, int64_t version) {
    auto agent = make_agent(GetParam().block);
    test::to_fake_device(*agent);
    return update(agent, minibatch, version);
  };
  const auto few = of(60, 0), many = of(8, 0);
  EXPECT_GT(many.minibatches, 5 * few.minibatches);
  const int columns = GetParam().block == Block::local && !GetParam().distinct ? 1 : 0;
  EXPECT_EQ(few.to_device, GetParam().distinct ? 3 + 2 * 3 : 3 + 3 + 2 + columns);
  EXPECT_EQ(many.to_device, few.to_device);
  EXPECT_EQ(few.to_host, 2) << "losses, norms and what they decided: one copy a pass";
  EXPECT_EQ(many.to_host, few.to_host);
  EXPECT_EQ(of(8, 7).to_device, few.to_device + (GetParam().distinct ? 3 : 1));  // stale: one more pass
}

// A minibatch that exceeds the target ends an update where the host would have ended it: what was computed behind it
// changes nothing, the counts of Adam's steps included. The host learns of it after a pass.
TEST_P(Device, StopsWhereTheHostStops) {
  const auto played = play(GetParam().block);
  const auto learn = [&](bool there) {
    auto agent = make_agent(GetParam().block);
    if (there) test::to_fake_device(*agent);
    PpoTrainer trainer(
        agent.ptr(),
        {.learning_rate = 0.02, .epochs = 8, .minibatch = 8, .distinct_rows = GetParam().distinct, .target_kl = 0.02});
    Rng shuffle({3});
    FakeDevice::reset();
    const auto stats = trainer.update(played, shuffle);
    return std::tuple(stats, trainer.state()[0].second.item<int64_t>(), FakeDevice::to_host.load());
  };
  const auto [here, steps_here, none] = learn(false);
  const auto [there, steps_there, copies] = learn(true);
  EXPECT_TRUE(here.early_stop && there.early_stop);
  EXPECT_EQ(here.minibatches, there.minibatches);
  EXPECT_EQ(steps_here, steps_there);
  const int64_t a_pass = (there.transitions + 7) / 8;
  EXPECT_NE(here.minibatches % a_pass, 0) << "in the middle of a pass";
  EXPECT_EQ(copies, here.minibatches / a_pass + 1);
  EXPECT_NEAR(here.last_kl, there.last_kl, 0.1 * here.last_kl);
  EXPECT_NEAR(here.policy_loss, there.policy_loss, 1e-3);
  EXPECT_NEAR(here.grad_norm, there.grad_norm, 1e-2);
  EXPECT_NEAR(here.value_scale, there.value_scale, 1e-4);
}

// Stands in for NCCL; its sums double the numbers, as if another learner had the same.
struct FakeNccl : comm::DeviceGroup {
  int size() const override { return 2; }
  bool on_gpu() const override { return true; }
  void begin_sum(void* data, size_t count, comm::Number type) override {
    counts.push_back(count);
    for (size_t i = 0; i < count; ++i) {
      if (type == comm::Number::f64) {
        static_cast<double*>(data)[i] *= 2;
      } else {
        static_cast<float*>(data)[i] *= 2;
      }
    }
  }
  void wait() override { ++waits; }
  std::string name() const override { return "fake"; }
  std::vector<size_t> counts;
  int waits = 0;
};

// Learners with a GPU each sum the losses there, too: one wait a minibatch, for losses and gradients together.
TEST_P(Device, LearnersSumLossesWithTheirGradients) {
  const auto played = play(GetParam().block);
  const auto comm = comm::self_comm();
  comm::Mailbox mailbox(*comm);
  const auto learn = [&](const std::shared_ptr<FakeNccl>& nccl) {
    auto agent = make_agent(GetParam().block);
    test::to_fake_device(*agent);
    PpoTrainer trainer(agent.ptr(),
                       {.epochs = 1, .minibatch = 32, .distinct_rows = GetParam().distinct, .target_kl = 0});
    if (nccl) trainer.set_group(std::make_shared<LearnerGroup>(nullptr, nccl, mailbox, std::vector<int>{0}, 60));
    Rng shuffle({3});
    FakeDevice::reset();
    return trainer.update(played, shuffle);
  };
  const auto nccl = std::make_shared<FakeNccl>();
  const auto alone = learn(nullptr), together = learn(nccl);
  EXPECT_EQ(FakeDevice::to_host, 1);
  EXPECT_EQ(nccl->waits, together.minibatches);
  EXPECT_EQ(nccl->counts[0], 7u) << "of doubles; gradients follow";
  EXPECT_EQ(std::ranges::count(nccl->counts, 7u), together.minibatches);
  EXPECT_NEAR(together.entropy_rule, 2 * alone.entropy_rule, 1e-2);
  EXPECT_NEAR(together.value_loss, 2 * alone.value_loss, 0.2 * alone.value_loss);
}

// As on the host: weights, moments and counts stay as they were where a gradient is not finite.
TEST_P(Device, SkipsWhatIsNotFinite) {
  auto agent = make_agent(GetParam().block);
  test::to_fake_device(*agent);
  // Rewards too large to be squared in float32; normalised they would not be.
  PpoTrainer trainer(agent.ptr(), {.epochs = 1,
                                   .minibatch = 8,
                                   .distinct_rows = GetParam().distinct,
                                   .target_kl = 0,
                                   .normalize_advantages = false,
                                   .normalize_returns = false});
  auto played = play(GetParam().block);
  for (auto& step : played[0].steps) step.reward = 3e30f;
  Rng shuffle({3});
  const auto stats = trainer.update(played, shuffle);
  EXPECT_GT(stats.skipped, 0);
  EXPECT_LT(stats.skipped, stats.minibatches);
  EXPECT_TRUE(std::isfinite(stats.grad_norm));
  for (const auto& [name, tensor] : nets::named_tensors(*agent))
    EXPECT_TRUE(tensor.cpu().isfinite().all().item<bool>()) << name;
  EXPECT_EQ(trainer.state()[0].second.item<int64_t>(), stats.minibatches - stats.skipped);
}

// An inference rank's policy: a batch crosses in two transfers, and what is decided is what the host decides.
TEST_P(Device, DecidesWhatTheHostDecides) {
  auto network = make_agent(GetParam().block);
  actors::NetworkPolicy here(make_agent(GetParam().block).ptr());
  test::to_fake_device(*network);
  actors::NetworkPolicy there(network.ptr());
  std::vector<mdp::Observation> seen;
  std::vector<const mdp::Observation*> pointers;
  std::vector<double> uniforms;
  for (uint64_t key = 0; key < 12; ++key) {
    seen.push_back(HillToy().reset(key));
    for (const int u : {7, 11}) uniforms.push_back(static_cast<double>(key * u % 13) / 13);
  }
  for (const auto& observation : seen) pointers.push_back(&observation);
  FakeDevice::to_device = 0;
  const auto decisions = there.decide(pointers, uniforms), expected = here.decide(pointers, uniforms);
  EXPECT_LE(FakeDevice::to_device, 3);  // and the chosen rules
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(decisions[i].action, expected[i].action);
    EXPECT_NEAR(decisions[i].log_prob_rule, expected[i].log_prob_rule, 1e-5);
    EXPECT_NEAR(decisions[i].value_rule, expected[i].value_rule, 1e-5);
  }
}

// Bounded memory: what does not fit next to others crosses by itself, and is the same.
TEST_P(Device, BatchesCrossInPiecesOfBoundedSize) {
  auto agent = make_agent(GetParam().block);
  test::to_fake_device(*agent);
  const auto played = play(GetParam().block);
  const auto data = flatten(played, *agent, GetParam().distinct, {});
  auto other = flatten(played, *agent, GetParam().distinct, {});
  join_whole(other, *agent, 1000);
  EXPECT_FALSE(other.whole);
  FakeDevice::to_device = 0;
  Pass whole(data, *agent, {{1, 2}, {3, 4}, {5, 6}}, {}), pieces(data, *agent, {{1, 2}, {3, 4}, {5, 6}}, {}, 1);
  for (int i = 0; i < 3; ++i) {
    const auto a = whole.next(), b = pieces.next();
    EXPECT_TRUE(torch::equal(a.batch.loc_node.cpu(), b.batch.loc_node.cpu()));
  }
  EXPECT_EQ(FakeDevice::to_device, 1 + 2 + 1 + 3 * 2) << "each pass its order, then its pieces";
}

}  // namespace
}  // namespace rlgo::learner

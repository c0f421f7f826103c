// An update on a device that counts what crosses to it.
#include <gtest/gtest.h>

#include "actors/network_policy.h"
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
  EXPECT_EQ(many.to_host - few.to_host, 2 * (many.minibatches - few.minibatches));  // losses, and the gradient's norm
  EXPECT_EQ(of(8, 7).to_device, few.to_device + (GetParam().distinct ? 3 : 1));     // stale: one more pass
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
  Pass whole(data, *agent, {{1, 2}, {3, 4}, {5, 6}}, {}), pieces(data, *agent, {{1, 2}, {3, 4}, {5, 6}}, {}, 1);
  auto other = flatten(played, *agent, GetParam().distinct, {});
  join_whole(other, *agent, 1000);
  EXPECT_FALSE(other.whole);
  FakeDevice::to_device = 0;
  for (int i = 0; i < 3; ++i) {
    const auto a = whole.next(), b = pieces.next();
    EXPECT_TRUE(torch::equal(a.batch.loc_node.cpu(), b.batch.loc_node.cpu()));
  }
  EXPECT_EQ(FakeDevice::to_device, 2 + 3 * 2);
}

}  // namespace
}  // namespace rlgo::learner

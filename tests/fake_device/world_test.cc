// The world model's training and its dreams on a device that counts what crosses to it.
#include <gtest/gtest.h>

#include <cmath>

#include "actors/dream_env.h"
#include "core/nets/actor_critic.h"
#include "core/nets/transfer.h"
#include "core/nets/weights.h"
#include "learner/checkpoint.h"
#include "learner/dream/trainer.h"
#include "tests/fake_device/_fake_device.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::FakeDevice;
using test::HillToy;

nets::WorldModel make_world() {
  nets::WorldOptions o;
  o.encoder = {.rounds = 1, .width = 16};
  o.hidden = 16;
  o.mixtures = 2;
  o.ensemble = 2;
  return nets::WorldModel(HillToy().spec(), o, 3);
}

std::vector<mdp::Trajectory> play() {
  nets::ActorCritic agent(HillToy().spec(), nets::AgentOptions{.rounds = 1, .width = 16}, 1);
  auto envs = test::copies<HillToy>(4);
  return test::play(agent, envs, 80, 1);
}

WorldStats update(nets::WorldModel model, int sequence) {
  WorldTrainer trainer(model, {.passes = 1, .batch = 8, .sequence = sequence, .holdout = 0}, 5);
  const auto data = play();
  Rng shuffle({9});
  FakeDevice::reset();
  return trainer.update(pointers(data), 0.1, shuffle);
}

TEST(WorldOnDevice, LearnsWhatTheHostLearns) {
  auto here = make_world(), there = make_world();
  test::to_fake_device(*there);
  EXPECT_NEAR(update(here, 4).loss, update(there, 4).loss, 1e-3);
  const auto a = nets::named_tensors(*here), b = nets::named_tensors(*there);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_LT((a[i].second - b[i].second.cpu()).abs().max().item<double>(), 2e-3) << a[i].first;
}

// A batch crosses once, whatever the number of its chunks; of a chunk coins and new locations cross, and nothing comes
// back: the host waits for latents and places at the beginning of an update, and for all losses and norms at its end.
TEST(WorldOnDevice, TheHostDoesNotWaitForAChunk) {
  struct Copies {
    int64_t to_device, to_host;
  };
  const auto of = [](int sequence) {
    auto model = make_world();
    test::to_fake_device(*model);
    update(model, sequence);
    EXPECT_EQ(FakeDevice::blocking, 0);
    EXPECT_EQ(FakeDevice::pageable, 0);
    return Copies{FakeDevice::to_device, FakeDevice::to_host};
  };
  const auto one = of(4), two = of(2), four = of(1);
  EXPECT_EQ(one.to_host, 3);
  EXPECT_EQ(four.to_host, one.to_host);
  EXPECT_EQ(four.to_device - two.to_device, 2 * (two.to_device - one.to_device)) << "as many a chunk";
}

TEST(WorldOnDevice, TheWeightsOfItsMemoryLieInARow) {
  auto here = make_world(), there = make_world();
  test::to_fake_device(*there);
  there->flatten_weights();
  EXPECT_EQ(FakeDevice::flattened, 1);
  update(here, 4);
  update(there, 4);  // learns through the views
  const auto named = there->named_parameters();
  EXPECT_EQ(named["w_ih"].storage().data(), named["b_hh"].storage().data());
  EXPECT_LT((here->named_parameters()["w_hh"] - named["w_hh"].cpu()).abs().max().item<double>(), 2e-3);
}

TEST(WorldOnDevice, ACheckpointIsTheHosts) {
  auto there = make_world();
  test::to_fake_device(*there);
  WorldTrainer trainer(there, {}, 5), other(make_world(), {}, 6);
  Checkpoint stored, again;
  trainer.store(stored, "");
  other.restore(stored, "");
  other.store(again, "");
  EXPECT_EQ(encode(stored), encode(again));
}

// What has not been waited for must not be read: here it is not a number.
TEST(FakeDeviceTest, CopiesWithoutAWaitArePoisonedUntilOne) {
  const auto there = nets::to_device(torch::ones({3}), FakeDevice::device());
  auto here = torch::zeros({3});
  here.copy_(there, /*non_blocking=*/true);
  EXPECT_TRUE(std::isnan(here.data_ptr<float>()[0]));
  EXPECT_EQ(there.sum().item<float>(), 3);  // a wait
  EXPECT_EQ(here.data_ptr<float>()[0], 1);
}

TEST(FakeDeviceTest, CountsCopiesThatWait) {
  FakeDevice::reset();
  const auto host = torch::ones({3});
  host.to(FakeDevice::device());
  EXPECT_EQ(FakeDevice::blocking, 1);
  host.to(FakeDevice::device(), /*non_blocking=*/true);
  EXPECT_EQ(FakeDevice::pageable, 1);
  nets::to_device(host, FakeDevice::device());
  EXPECT_EQ(FakeDevice::to_device, 3);
  EXPECT_EQ(FakeDevice::blocking + FakeDevice::pageable, 2);
}

// As CUDA does.
TEST(FakeDeviceTest, CountsSizesThatTheHostAsksFor) {
  const auto x = nets::to_device(torch::ones({3}), FakeDevice::device());
  const auto some = nets::to_device(torch::tensor({0, 2}), FakeDevice::device());
  const auto waits = [](const auto& what) {
    FakeDevice::reset();
    what();
    return FakeDevice::to_host.load();
  };
  EXPECT_EQ(waits([&] { x.nonzero(); }), 1);
  EXPECT_GE(waits([&] { x.index({x > 0}); }), 1);
  EXPECT_EQ(waits([&] { x.masked_select(x > 0); }), 1);
  EXPECT_EQ(waits([&] { torch::repeat_interleave(some); }), 1);
  EXPECT_EQ(waits([&] { torch::repeat_interleave(some, 2); }), 0);
  EXPECT_EQ(waits([&] { x.index({some}) + x.index_select(0, some); }), 0);
}

}  // namespace
}  // namespace rlgo::learner

// What runs on a GPU: the same numbers as on the CPU, sums by NCCL, measured costs, a learner's throughput. Without a
// GPU each test states "skipped: no device".
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "actors/collector.h"
#include "actors/dream_env.h"
#include "actors/network_policy.h"
#include "core/base/stopwatch.h"
#include "core/comm/device_group.h"
#include "core/exec/device_tools.h"
#include "core/exec/measure.h"
#include "core/nets/actor_critic.h"
#include "core/nets/graph_ops.h"
#include "core/nets/weights.h"
#include "learner/dream/trainer.h"
#include "learner/ppo/trainer.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo {
namespace {

using test::HillToy;
using torch::Tensor;
const torch::Device kGpu(torch::kCUDA, 0);

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (exec::gpu_count() == 0) GTEST_SKIP() << "skipped: no device";
    exec::tune({exec::Device::Kind::cuda, 0});
  }
};

nets::ActorCritic make_agent(int width = 32) {
  return nets::ActorCritic(HillToy().spec(), nets::AgentOptions{.rounds = 2, .width = width}, 1);
}

std::vector<mdp::Trajectory> play(int64_t steps) {
  auto agent = make_agent();
  auto envs = test::copies<HillToy>(8);
  return test::play(agent, envs, steps, 1);
}

double distance(const torch::nn::Module& a, const torch::nn::Module& b) {
  const auto x = nets::named_tensors(a), y = nets::named_tensors(b);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, (x[i].second.cpu() - y[i].second.cpu()).abs().max().item<double>());
  return worst;
}

// Result and gradient of f at x, on a device.
std::pair<Tensor, Tensor> evaluate(const std::function<Tensor(const Tensor&, torch::Device)>& f, const Tensor& x,
                                   torch::Device device) {
  const auto own = x.to(device).detach().requires_grad_(true);
  const auto y = f(own, device);
  y.square().sum().backward();
  return {y.detach().cpu(), own.grad().cpu()};
}

void expect_same(const std::function<Tensor(const Tensor&, torch::Device)>& f, const Tensor& x) {
  const auto [y, dy] = evaluate(f, x, torch::kCPU);
  const auto [z, dz] = evaluate(f, x, kGpu);
  EXPECT_LT((y - z).abs().max().item<double>(), 1e-4);
  EXPECT_LT((dy - dz).abs().max().item<double>(), 1e-3);
}

TEST_F(Gpu, KernelsOfTheNetworks) {
  torch::manual_seed(1);
  const auto x = torch::randn({200, 24});
  const auto sorted = std::get<0>(torch::randint(0, 40, {200}, torch::kInt64).sort());
  const auto index = torch::randint(0, 40, {200}, torch::kInt64);
  const auto present = std::get<1>(torch::_unique(sorted, true, true));  // every segment has a row
  const int64_t segments = present.max().item<int64_t>() + 1;
  expect_same([&](const Tensor& t, torch::Device d) { return nets::scatter_sum(t, index.to(d), 40); }, x);
  expect_same([&](const Tensor& t, torch::Device d) { return nets::segment_max(t, present.to(d), segments); }, x);
  expect_same([&](const Tensor& t,
                  torch::Device d) { return nets::segment_log_softmax(t.select(1, 0), present.to(d), segments); },
              x);
  expect_same(
      [&](const Tensor& t, torch::Device d) {
        return nets::add_rows({}, {t, index.to(d)}, {t, present.to(d)});
      },
      x);
}

TEST_F(Gpu, NetworkForwardAndBackward) {
  const auto data = play(60);
  std::vector<const mdp::Observation*> seen;
  std::vector<mdp::Action> actions;
  for (const auto& t : data) {
    for (const auto& step : t.steps) seen.push_back(&step.observation), actions.push_back(step.action);
  }
  auto here = make_agent(), there = make_agent();
  there->to(kGpu);
  const auto a = here->evaluate(nets::collate(seen, here->spec()), actions);
  const auto b = there->evaluate(nets::collate(seen, there->spec(), kGpu), actions);
  EXPECT_LT((a.log_prob() - b.log_prob().cpu()).abs().max().item<double>(), 1e-4);
  EXPECT_LT((a.value_rule - b.value_rule.cpu()).abs().max().item<double>(), 1e-4);
  (a.log_prob().mean() + a.value_rule.mean()).backward();
  (b.log_prob().mean() + b.value_rule.mean()).backward();
  const auto p = here->parameters(), q = there->parameters();
  for (size_t i = 0; i < p.size(); ++i) {
    if (!p[i].grad().defined()) continue;
    EXPECT_LT((p[i].grad() - q[i].grad().cpu()).abs().max().item<double>(), 1e-4);
  }
}

TEST_F(Gpu, PpoUpdate) {
  const auto data = play(200);
  auto here = make_agent(), there = make_agent();
  there->to(kGpu);
  for (auto* agent : {&here, &there}) {
    learner::PpoTrainer trainer(agent->ptr(), {.epochs = 2, .minibatch = 64, .target_kl = 0});
    Rng shuffle({3});
    EXPECT_LT(trainer.update(data, shuffle).ratio_deviation, 1e-2);
  }
  EXPECT_LT(distance(*here, *there), 2e-3);
  EXPECT_GT(exec::device_peak_bytes({exec::Device::Kind::cuda, 0}), 1 << 16);
}

nets::WorldOptions world_options() {
  nets::WorldOptions o;
  o.encoder = {.rounds = 1, .width = 32};
  o.hidden = 32;
  return o;
}

TEST_F(Gpu, WorldModelUpdate) {
  const auto data = play(200);
  std::vector<const mdp::Trajectory*> all;
  for (const auto& t : data) all.push_back(&t);
  double loss[2] = {}, score[2] = {};
  for (int gpu = 0; gpu < 2; ++gpu) {
    nets::WorldModel world(HillToy().spec(), world_options(), 2);
    if (gpu == 1) world->to(kGpu);
    learner::WorldTrainer trainer(world, {.train_encoder = true, .holdout = 0}, 2);
    Rng shuffle({3});
    loss[gpu] = trainer.update(all, 0, shuffle).loss;
    score[gpu] = trainer.score(all).nll;
  }
  EXPECT_NEAR(loss[0], loss[1], 1e-2 * std::abs(loss[0]));
  EXPECT_NEAR(score[0], score[1], 1e-2 * std::abs(score[0]) + 1e-3);
}

class Count : public actors::Sink {
 public:
  void on_trajectory(mdp::Trajectory t) override { steps += static_cast<int64_t>(t.steps.size()); }
  void on_lost(const actors::LostEpisode& lost) override { FAIL() << lost.what; }
  int64_t steps = 0;
};

TEST_F(Gpu, Dreams) {
  const auto dreamer =
      std::make_shared<actors::Dreamer>(HillToy().spec(), world_options(), nets::LatentAgentOptions{}, 1, kGpu);
  HillToy env;
  const auto first = env.reset(1);
  const auto blank = dreamer->world->blank(1);
  {
    const torch::NoGradGuard no_grad;
    dreamer->starts = {dreamer->world->encode(nets::collate(first, dreamer->world->spec(), kGpu)), blank.h, blank.c,
                       torch::tensor(first.counts, torch::kFloat32).unsqueeze(0).to(kGpu)};
  }
  actors::DreamEnv dream(dreamer, {.batch = 256, .max_steps = 20});
  actors::NetworkPolicy policy(dreamer->agent.ptr(), 0);
  Count sink;
  actors::CollectorOptions options;
  options.step_together = true;
  actors::Collector collector(dream, policy, sink, options);
  const Stopwatch watch;
  while (collector.round([&] { return sink.steps < 4000; }) > 0) {
  }
  EXPECT_GE(sink.steps, 4000);
  std::printf("dreams: %.0f steps/s\n", static_cast<double>(sink.steps) / watch.seconds());
}

TEST_F(Gpu, NcclSumsInBuckets) {
  if (!comm::built_with_nccl()) GTEST_SKIP() << "skipped: built without NCCL";
  const auto comm = comm::self_comm();
  comm::Mailbox mailbox(*comm);
  std::shared_ptr<comm::DeviceGroup> nccl = comm::nccl_group(mailbox, {0}, 0), ring = comm::ring_group(mailbox, {0});
  auto floats = torch::arange(1000, torch::TensorOptions(kGpu).dtype(torch::kFloat32));
  nccl->all_reduce_sum(floats.data_ptr<float>(), 1000);
  EXPECT_EQ(floats.sum().item<float>(), 499500.0f);
  EXPECT_FALSE(exec::gpu_of({exec::Device::Kind::cuda, 0}).address.empty());
  // A network of several buckets learns as it does without NCCL: its hooks send each bucket once.
  const auto group = std::make_shared<learner::LearnerGroup>(ring, nccl, mailbox, std::vector<int>{0}, 60);
  const auto data = play(100);
  auto with = make_agent(256), without = make_agent(256);
  for (auto* agent : {&with, &without}) {
    (*agent)->to(kGpu);
    learner::PpoTrainer trainer(agent->ptr(), {.epochs = 1, .target_kl = 0});
    if (agent == &with) trainer.set_group(group);
    Rng shuffle({3});
    trainer.update(data, shuffle);
  }
  EXPECT_GT(learner::GradientSum(with->parameters(), group).buckets(), 1u);
  EXPECT_LT(distance(*with, *without), 2e-3);
}

TEST_F(Gpu, MeasuredCostOfAnOperator) {
  using ops::DType, ops::TensorType;
  const exec::Device gpu{exec::Device::Kind::cuda, 0};
  const auto small = exec::measure_op(ops::Op::matmul, {},
                                      {TensorType(DType::f32, {64, 64}), TensorType(DType::f32, {64, 64})}, gpu, {});
  const auto large = exec::measure_op(
      ops::Op::matmul, {}, {TensorType(DType::f32, {4096, 4096}), TensorType(DType::f32, {4096, 4096})}, gpu, {});
  EXPECT_GT(small.median_us, 0.5);
  EXPECT_GT(large.median_us, 5 * small.median_us);
  EXPECT_LT(large.spread_us, large.median_us);
  std::printf("matmul 64: %.1f us, 4096: %.1f us\n", small.median_us, large.median_us);
}

TEST_F(Gpu, LearnerThroughput) {
  const auto data = play(2000);
  auto agent = make_agent(128);
  agent->to(kGpu);
  learner::PpoTrainer trainer(agent.ptr(), {.epochs = 2, .minibatch = 256, .target_kl = 0});
  Rng shuffle({3});
  trainer.update(data, shuffle);  // warm-up
  const Stopwatch watch;
  const auto stats = trainer.update(data, shuffle);
  const double rate = 2.0 * static_cast<double>(stats.transitions) / watch.seconds();
  std::printf("PPO: %.0f transitions/s\n", rate);
  EXPECT_GT(rate, 1000);
}

}  // namespace
}  // namespace rlgo

// Policy, world model, losses and updates on LibTorch's meta device, which has shapes and no numbers: whatever reads a
// number there (item, nonzero, a copy to the host) throws, and on a GPU would make the host wait.
#include <ATen/ExpandUtils.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <array>
#include <optional>
#include <tuple>

#include "core/nets/actor_critic.h"
#include "core/nets/world_model.h"
#include "learner/dream/loss.h"
#include "learner/ppo/trainer.h"
#include "tests/fake_device/_fake_device.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::HillToy;
const torch::Device kMeta(torch::kMeta);

// LibTorch has these in Python only.
torch::Tensor select_rows(const torch::Tensor& from, int64_t dim, const torch::Tensor& index) {
  auto sizes = from.sizes().vec();
  sizes[static_cast<size_t>(dim < 0 ? dim + from.dim() : dim)] = index.numel();
  return torch::empty(sizes, from.options());
}
torch::Tensor relu(const torch::Tensor& x) { return torch::empty_like(x); }
torch::Tensor& abs_out(const torch::Tensor& x, torch::Tensor& out) { return out.resize_(x.sizes()), out; }
torch::Tensor embedding_backward(const torch::Tensor& dy, const torch::Tensor&, int64_t rows, int64_t, bool) {
  return torch::empty({rows, dy.size(-1)}, dy.options());
}
torch::Tensor where(const torch::Tensor& condition, const torch::Tensor& a, const torch::Tensor& b) {
  const auto sizes = at::infer_size(at::infer_size(condition.sizes(), a.sizes()), b.sizes());
  return torch::empty(sizes, torch::TensorOptions(kMeta).dtype(torch::result_type(a, b)));
}
// Without a size the host would have to ask the device for it.
torch::Tensor repeat(const torch::Tensor& repeats, std::optional<int64_t> size) {
  TORCH_CHECK(size.has_value(), "repeat_interleave without a size");
  return torch::empty({*size}, repeats.options());
}
using Three = std::tuple<torch::Tensor, torch::Tensor, torch::Tensor>;
using Maybe = std::optional<torch::Tensor>;
Three layer_norm(const torch::Tensor& x, at::IntArrayRef, const Maybe&, const Maybe&, double) {
  const auto one = torch::empty({x.size(0), 1}, x.options());
  return {torch::empty_like(x), one, one};
}
Three layer_norm_backward(const torch::Tensor&, const torch::Tensor& x, at::IntArrayRef, const torch::Tensor&,
                          const torch::Tensor&, const Maybe& weight, const Maybe& bias, std::array<bool, 3>) {
  return {torch::empty_like(x), torch::empty_like(*weight), torch::empty_like(*bias)};
}
void adam(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList, double,
          double, double, double, double, bool, bool, const Maybe&, const Maybe&) {}
TORCH_LIBRARY_IMPL(aten, Meta, m) {
  m.impl("where.self", where);
  m.impl("repeat_interleave.Tensor", repeat);
  m.impl("native_layer_norm", layer_norm);
  m.impl("native_layer_norm_backward", layer_norm_backward);
  m.impl("_fused_adam_", adam);
  m.impl("embedding_dense_backward", embedding_backward);
  m.impl("abs.out", abs_out);
  m.impl("index_select", select_rows);
  m.impl("relu", relu);
}

TEST(MetaWorld, TheModelReadsNothing) {
  nets::WorldOptions o;
  o.encoder = {.rounds = 1, .width = 16};
  o.hidden = 16;
  o.locations = false;
  nets::WorldModel model(HillToy().spec(), o, 3);
  test::to_fake_device(*model, kMeta);
  const auto spec = model->spec();
  const auto numbers = [](std::vector<int64_t> size) { return torch::zeros(size, torch::TensorOptions(kMeta)); };
  const nets::WorldInput input{numbers({4, 2, 16}),
                               numbers({4, 2, spec.rules}),
                               torch::zeros({4, 2}, torch::TensorOptions(kMeta).dtype(torch::kInt64)),
                               numbers({4, 2, 2}),
                               {},
                               {}};
  auto memory = model->blank(2);
  for (int64_t t = 0; t < 2; ++t) {
    const auto p = model->sequence(input, memory);
    (latent_loss(p.z, numbers({4, 2, 16}), numbers({4, 2})) + p.reward.mean() + p.terminal.mean()).backward();
    memory = {memory.h.detach(), memory.c.detach()};
  }
  EXPECT_TRUE(memory.h.is_meta());
}

// A whole pass of an update: joining, forward, losses, backward, clip, Adam. Then come its statistics, which have no
// numbers here.
TEST(MetaPolicy, AnUpdateReadsNothingBeforeItsPassIsOver) {
  for (const auto block : {nets::Block::full, nets::Block::local, nets::Block::gat}) {
    nets::ActorCritic agent(HillToy().spec(), nets::AgentOptions{.rounds = 2, .width = 16, .block = block}, 1);
    auto envs = test::copies<HillToy>(4);
    const auto played = test::play(agent, envs, 60, 1);
    int64_t transitions = 0;
    for (const auto& t : played) transitions += static_cast<int64_t>(t.steps.size());
    test::to_fake_device(*agent, kMeta);
    PpoTrainer trainer(agent.ptr(), {.epochs = 2, .minibatch = 16, .distinct_rows = false});
    trainer.set_weights_version(0);
    Rng shuffle({3});
    int64_t turns = 0;
    EXPECT_THAT([&] { trainer.update(played, shuffle, [&] { ++turns; }); },
                testing::ThrowsMessage<c10::Error>(testing::HasSubstr("Cannot copy out of meta tensor")));
    EXPECT_EQ(turns, std::ssize(played) + (transitions + 15) / 16) << "each episode, then each minibatch of a pass";
    EXPECT_FALSE(trainer.optimizer().state().empty());
  }
}

// The test above would see it.
TEST(MetaWorld, AReadThrows) {
  const auto x = torch::zeros({3}, torch::TensorOptions(kMeta));
  EXPECT_ANY_THROW(x.sum().item<float>());
  EXPECT_ANY_THROW(x.nonzero());
}

}  // namespace
}  // namespace rlgo::learner

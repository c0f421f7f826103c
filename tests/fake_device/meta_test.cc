// Forward and backward of the world model on LibTorch's meta device, which has shapes and no numbers: whatever reads a
// number there (item, nonzero, a copy to the host) throws, and on a GPU would make the host wait.
#include <gtest/gtest.h>
#include <torch/library.h>

#include "core/nets/world_model.h"
#include "learner/dream/loss.h"
#include "tests/fake_device/_fake_device.h"
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
TORCH_LIBRARY_IMPL(aten, Meta, m) {
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

// The test above would see it.
TEST(MetaWorld, AReadThrows) {
  const auto x = torch::zeros({3}, torch::TensorOptions(kMeta));
  EXPECT_ANY_THROW(x.sum().item<float>());
  EXPECT_ANY_THROW(x.nonzero());
}

}  // namespace
}  // namespace rlgo::learner

#include "learner/distributed/gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/comm/mailbox.h"

namespace rlgo::learner {
namespace {

using testing::ElementsAre;

// Stands in for NCCL; its sums double the numbers, as if another learner had the same.
struct FakeNccl : comm::DeviceGroup {
  int size() const override { return 2; }
  bool on_gpu() const override { return true; }
  void begin_sum(void* data, size_t count, comm::Number) override {
    counts.push_back(count);
    for (size_t i = 0; i < count; ++i) static_cast<float*>(data)[i] *= 2;
  }
  void wait() override { ++waits; }
  std::string name() const override { return "fake"; }
  std::vector<size_t> counts;
  int waits = 0;
};

// Three matrices, each longer than a bucket.
struct Sum {
  Sum() {
    for (const int64_t rows : {520, 530, 540}) {
      parameters.push_back(torch::ones({rows, 520}).requires_grad_(true));
      sizes.push_back(static_cast<size_t>(rows * 520));
    }
    gradients.emplace(parameters, group);
    gradients->begin();
  }
  std::unique_ptr<comm::Comm> comm = comm::self_comm();
  comm::Mailbox mailbox{*comm};
  std::shared_ptr<FakeNccl> nccl = std::make_shared<FakeNccl>();
  std::shared_ptr<LearnerGroup> group = std::make_shared<LearnerGroup>(nullptr, nccl, mailbox, std::vector<int>{0}, 60);
  std::vector<torch::Tensor> parameters;
  std::vector<size_t> sizes;
  std::optional<GradientSum> gradients;
};

TEST(GradientSum, BackwardSendsBucketsInOneOrder) {
  Sum sum;
  const auto& p = sum.parameters;
  ((p[0].sum() + p[1].sum()) + p[2].sum()).backward();
  EXPECT_THAT(sum.nccl->counts, ElementsAre(sum.sizes[2], sum.sizes[1], sum.sizes[0]));
  EXPECT_EQ(sum.nccl->waits, 0);
  sum.gradients->finish(0);
  EXPECT_EQ(sum.nccl->counts.size(), 3u);  // each once
  EXPECT_EQ(sum.nccl->waits, 1);
  EXPECT_EQ(p[1].grad().mean().item<float>(), 2);
}

// A learner without data, or whose batch does not use a parameter, begins the same sums in the same order.
TEST(GradientSum, AnEmptyShardTakesPart) {
  Sum sum;
  EXPECT_EQ(sum.gradients->finish(0), 0);
  EXPECT_THAT(sum.nccl->counts, ElementsAre(sum.sizes[2], sum.sizes[1], sum.sizes[0]));
}

TEST(GradientSum, AnUnusedParameterHoldsTheLaterBuckets) {
  Sum sum;
  (sum.parameters[0].sum() + sum.parameters[2].sum()).backward();
  EXPECT_THAT(sum.nccl->counts, ElementsAre(sum.sizes[2]));  // the second is not there, so the third waits
  sum.gradients->finish(0);
  EXPECT_THAT(sum.nccl->counts, ElementsAre(sum.sizes[2], sum.sizes[1], sum.sizes[0]));
  EXPECT_EQ(sum.parameters[1].grad().abs().max().item<float>(), 0);
  EXPECT_EQ(sum.parameters[0].grad().mean().item<float>(), 2);
}

// Kernels read four floats at once where an address allows it.
TEST(GradientSum, GradientsBeginAtMultiplesOf16Bytes) {
  std::vector<torch::Tensor> parameters;
  for (const int64_t size : {3, 5, 1, 7}) parameters.push_back(torch::ones({size}).requires_grad_(true));
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    for (auto& p : parameters) p = p.detach().to(type).requires_grad_(true);
    GradientSum gradients(parameters, std::make_shared<LearnerGroup>());
    gradients.begin();
    (parameters[0].sum() + parameters[1].sum()).backward();
    const auto first = reinterpret_cast<uintptr_t>(parameters[3].grad().data_ptr());
    for (const auto& p : parameters) EXPECT_EQ((reinterpret_cast<uintptr_t>(p.grad().data_ptr()) - first) % 16, 0u);
    EXPECT_NEAR(gradients.finish(0), std::sqrt(8.0), 1e-6);
  }
}

}  // namespace
}  // namespace rlgo::learner

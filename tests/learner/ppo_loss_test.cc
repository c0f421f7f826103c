#include <gtest/gtest.h>

#include <cmath>

#include "learner/ppo/loss.h"

namespace rlgo::learner {
namespace {

torch::Tensor t(std::vector<double> values) { return torch::tensor(values, torch::kFloat64); }
double number(const torch::Tensor& tensor) { return tensor.item<double>(); }

TEST(PolicyLoss, ClipsOnlyWhatWouldGoTooFar) {
  const auto log = [](double ratio) { return std::log(ratio); };
  // ratio, advantage -> min(r A, clip(r) A): (1.5, 2) -> 2.4; (0.5, 2) -> 1; (1.5, -1) -> -1.5; (0.5, -1) -> -0.8; (1,
  // 3) -> 3
  const auto ratios = t({log(1.5), log(0.5), log(1.5), log(0.5), 0});
  EXPECT_NEAR(number(policy_loss(ratios, t({2, 2, -1, -1, 3}), 0.2)), -(2.4 + 1 - 1.5 - 0.8 + 3) / 5, 1e-12);
}

TEST(PolicyLoss, NoGradientBeyondTheClip) {
  auto log_ratio = t({std::log(1.5), std::log(0.5)}).requires_grad_();
  policy_loss(log_ratio, t({1, 1}), 0.2).backward();
  EXPECT_EQ(log_ratio.grad()[0].item<double>(), 0.0);             // clipped
  EXPECT_NEAR(log_ratio.grad()[1].item<double>(), -0.25, 1e-12);  // -r A / 2
}

TEST(ValueLoss, HalfMeanSquare) {
  EXPECT_NEAR(number(value_loss(t({1, 4}), t({0, 0}), t({2, 2}))), 0.5 * (1 + 4) / 2, 1e-12);
}

TEST(ValueLoss, ClippedTakesTheLarger) {
  // value 3, old 0, clip 1 -> 1; target 3: max(0, 4) = 4; target 0: max(9, 1) = 9.
  EXPECT_NEAR(number(value_loss(t({3}), t({0}), t({3}), 1.0)), 2.0, 1e-12);
  EXPECT_NEAR(number(value_loss(t({3}), t({0}), t({0}), 1.0)), 4.5, 1e-12);
}

TEST(ApproxKl, MatchesTheExactDivergenceInExpectation) {
  // old = (0.5, 0.5), new = (0.8, 0.2): KL = 0.5 log(0.5/0.8) + 0.5 log(0.5/0.2) = 0.2231; two equally likely samples.
  EXPECT_NEAR(number(approx_kl(t({std::log(1.6), std::log(0.4)}))),
              0.5 * std::log(0.5 / 0.8) + 0.5 * std::log(0.5 / 0.2), 1e-12);
  EXPECT_EQ(number(approx_kl(t({0, 0}))), 0.0);
}

TEST(ClipFraction, CountsBothSides) {
  EXPECT_FLOAT_EQ(static_cast<float>(number(clip_fraction(t({std::log(1.3), std::log(0.7), std::log(1.1), 0}), 0.2))),
                  0.5f);
}

}  // namespace
}  // namespace rlgo::learner

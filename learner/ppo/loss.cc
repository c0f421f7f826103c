#include "learner/ppo/loss.h"

namespace rlgo::learner {

using torch::Tensor;

Tensor policy_loss(const Tensor& log_ratio, const Tensor& advantage, double clip) {
  const auto ratio = log_ratio.exp();
  return -torch::min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean();
}

Tensor value_loss(const Tensor& value, const Tensor& old_value, const Tensor& target, double clip) {
  auto squares = (value - target).square();
  if (clip > 0) squares = torch::max(squares, (old_value + (value - old_value).clamp(-clip, clip) - target).square());
  return 0.5 * squares.mean();
}

Tensor approx_kl(const Tensor& log_ratio) { return (log_ratio.expm1() - log_ratio).mean(); }

Tensor clip_fraction(const Tensor& log_ratio, double clip) {
  return (log_ratio.expm1().abs() > clip).to(torch::kFloat32).mean();
}

}  // namespace rlgo::learner

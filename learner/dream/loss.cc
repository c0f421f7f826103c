#include "learner/dream/loss.h"

namespace rlgo::learner {

using torch::Tensor;

Tensor masked_mean(const Tensor& x, const Tensor& mask) { return (x * mask).sum() / mask.sum().clamp_min(1.0); }

Tensor latent_loss(const nets::Mixture& mixture, const Tensor& target, const Tensor& mask) {
  return -masked_mean(nets::log_density(mixture, target).mean(-1), mask);
}

Tensor reward_loss(const Tensor& predicted, const Tensor& target, const Tensor& counts_for, const Tensor& mask) {
  return masked_mean((predicted - target.unsqueeze(-1)).square(), counts_for * mask.unsqueeze(-1));
}

Tensor terminal_loss(const Tensor& logit, const Tensor& target, const Tensor& mask, double positive_weight) {
  const auto weight = torch::full({1}, positive_weight, logit.options());
  return masked_mean(torch::binary_cross_entropy_with_logits(logit, target, {}, weight, at::Reduction::None), mask);
}

Tensor present_loss(const Tensor& logit, const Tensor& count, const Tensor& mask) {
  const auto present = (count > 0).to(logit.scalar_type());
  return masked_mean(torch::binary_cross_entropy_with_logits(logit, present, {}, {}, at::Reduction::None).mean(-1),
                     mask);
}

Tensor count_loss(const Tensor& log_count, const Tensor& count, const Tensor& mask) {
  const auto error = torch::smooth_l1_loss(log_count, count.log1p(), at::Reduction::None);
  return masked_mean(error, (count > 0).to(error.scalar_type()) * mask.unsqueeze(-1));
}

Tensor class_loss(const Tensor& logits, const Tensor& target, const Tensor& mask) {
  const auto chosen = torch::log_softmax(logits, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1);  // [*, X]
  return -masked_mean(chosen.sum(-1), mask);
}

Tensor come_loss(const Tensor& predicted, const Tensor& target) {
  if (predicted.size(0) == 0) return torch::zeros({}, predicted.options());
  constexpr double kFine = 10;
  const int64_t width = predicted.size(1) - 2;
  const auto read = [&](const Tensor& t) { return torch::asinh(kFine * t.select(1, width)); };
  return (predicted.slice(1, 0, width) - target.slice(1, 0, width)).square().mean() +
         torch::smooth_l1_loss(read(predicted), read(target));
}

Tensor members_loss(const Tensor& members, const Tensor& target, const Tensor& counts_for, const Tensor& mask) {
  const auto error = (members - target.unsqueeze(-2)).square().mean(-1);  // [*, R]
  return masked_mean(error, counts_for * mask.unsqueeze(-1));
}

}  // namespace rlgo::learner

// The terms of PPO's objective as pure functions of tensors. Vectors are [M] (one number per transition); results are
// scalars. `log_ratio` is log pi(a|s) - log pi_old(a|s) of the joint action: log-probability of the rule plus that of
// the location, so that there is one ratio per step.
#pragma once

#include <torch/types.h>

namespace rlgo::learner {

// -L^CLIP (Schulman et al. 2017, equation 7): -mean(min(r A, clip(r, 1 - clip, 1 + clip) A)), r =
// exp(log_ratio).
torch::Tensor policy_loss(const torch::Tensor& log_ratio, const torch::Tensor& advantage, double clip);

// mean((V - target)^2) / 2; with clip > 0 the larger of that and the same of old + clamp(V - old, -clip, clip), per
// item.
torch::Tensor value_loss(const torch::Tensor& value, const torch::Tensor& old_value, const torch::Tensor& target,
                         double clip = 0);

// KL(old || new), estimated by mean((r - 1) - log r): unbiased, never negative, small variance (Schulman 2020,
// "Approximating KL divergence", k3).
torch::Tensor approx_kl(const torch::Tensor& log_ratio);

// Fraction of ratios outside [1 - clip, 1 + clip].
torch::Tensor clip_fraction(const torch::Tensor& log_ratio, double clip);

}  // namespace rlgo::learner

// Mixtures of Gaussians, one per latent dimension (Bishop 1994, "Mixture density networks"; Ha and Schmidhuber 2018).
// Pure functions; `*` is any number of leading dimensions, Z latent dimensions, K components.
#pragma once

#include <torch/types.h>

namespace rlgo::nets {

struct Mixture {
  torch::Tensor logits;     // [*, Z, K] of the mixing weights
  torch::Tensor mean;       // [*, Z, K]
  torch::Tensor log_sigma;  // [*, Z, K] >= log of the floor
};

// log sigma from what a layer puts out: log_floor + softplus(raw - log_floor). Smooth, above the floor everywhere,
// equal to `raw` well above it: a component cannot shrink onto one sample.
torch::Tensor floored_log_sigma(const torch::Tensor& raw, double floor);

// [*, Z]: log sum_k softmax(logits)_k N(target; mean_k, sigma_k^2), nats, by log-sum-exp.
torch::Tensor log_density(const Mixture& mixture, const torch::Tensor& target);

// A draw [*, Z]. The mixing logits are divided by the temperature (Ha and Schmidhuber 2018): 0 takes the likeliest
// component's mean; above 1 is more random than what was learned. `uniforms` [*, Z] in [0,1) choose components,
// `normals` [*, Z] are standard normal; scale_noise multiplies sigma by sqrt(temperature) too (Ha and Schmidhuber's
// code). With temperature 0 neither is read.
torch::Tensor sample(const Mixture& mixture, const torch::Tensor& uniforms, const torch::Tensor& normals,
                     double temperature, bool scale_noise);

}  // namespace rlgo::nets

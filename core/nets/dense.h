// Linear maps and tables whose initial values come from a seeded Rng, never from LibTorch's global generator.
#pragma once

#include <torch/nn/module.h>

#include "core/base/rng.h"

namespace rlgo::nets {

// [sizes] float32, uniform with variance gain^2 / fan_in (LeCun et al. 1998; gain sqrt(2) before a ReLU, He et al.
// 2015).
torch::Tensor uniform_init(torch::IntArrayRef sizes, double gain, int64_t fan_in, Rng& rng);
// [sizes] float32, normal with the given standard deviation.
torch::Tensor normal_init(torch::IntArrayRef sizes, double deviation, Rng& rng);

struct DenseOptions {
  double gain = 1.0;
  bool bias = true;
  double bias_deviation = 0;  // of the bias's initial values
  int64_t fan_in = 0;         // 0: the inputs of this map; more where it is one part of a larger, split map
};

// y = x W^T + b, x [*, in], W [out, in].
class DenseImpl : public torch::nn::Module {
 public:
  DenseImpl(int64_t in, int64_t out, Rng& rng, DenseOptions options = {});
  torch::Tensor forward(const torch::Tensor& x) { return torch::linear(x, weight, bias); }

  torch::Tensor weight;  // [out, in]
  torch::Tensor bias;    // [out], or undefined
};
TORCH_MODULE(Dense);

}  // namespace rlgo::nets

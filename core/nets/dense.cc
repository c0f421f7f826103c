#include "core/nets/dense.h"

#include <algorithm>
#include <cmath>

namespace rlgo::nets {

torch::Tensor uniform_init(torch::IntArrayRef sizes, double gain, int64_t fan_in, Rng& rng) {
  const double bound = gain * std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(fan_in, 1)));
  auto result = torch::empty(sizes, torch::kFloat32);
  float* values = result.data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); ++i) values[i] = static_cast<float>(bound * (2.0 * rng.uniform() - 1.0));
  return result;
}

torch::Tensor normal_init(torch::IntArrayRef sizes, double deviation, Rng& rng) {
  auto result = torch::empty(sizes, torch::kFloat32);
  float* values = result.data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); ++i) values[i] = static_cast<float>(deviation * rng.normal());
  return result;
}

DenseImpl::DenseImpl(int64_t in, int64_t out, Rng& rng, DenseOptions options) {
  const int64_t fan_in = options.fan_in > 0 ? options.fan_in : in;
  weight = register_parameter("weight", uniform_init({out, in}, options.gain, fan_in, rng));
  if (options.bias) bias = register_parameter("bias", normal_init({out}, options.bias_deviation, rng));
}

}  // namespace rlgo::nets

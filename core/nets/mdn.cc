#include "core/nets/mdn.h"

#include <cmath>

#include "core/base/error.h"

namespace rlgo::nets {

using torch::Tensor;

Tensor floored_log_sigma(const Tensor& raw, double floor) {
  const double low = std::log(floor);
  return low + torch::softplus(raw - low);
}

Tensor log_density(const Mixture& m, const Tensor& target) {
  constexpr double kHalfLogTwoPi = 0.9189385332046727;
  const auto deviation = (target.unsqueeze(-1) - m.mean) * torch::exp(-m.log_sigma);
  const auto log_normal = -0.5 * deviation.square() - m.log_sigma - kHalfLogTwoPi;
  return torch::logsumexp(torch::log_softmax(m.logits, -1) + log_normal, -1);
}

Tensor sample(const Mixture& m, const Tensor& uniforms, const Tensor& normals, double temperature, bool scale_noise) {
  if (!(temperature >= 0)) fail("mixture: temperature {}, expected at least 0", temperature);
  if (temperature == 0) {
    return m.mean.gather(-1, m.logits.argmax(-1, /*keepdim=*/true)).squeeze(-1);
  }
  const auto weights = torch::softmax(m.logits / temperature, -1);
  const auto below = weights.cumsum(-1) <= uniforms.unsqueeze(-1);  // components left of the drawn one
  const auto chosen = below.sum(-1, /*keepdim=*/true).clamp_max(m.logits.size(-1) - 1);
  const auto mean = m.mean.gather(-1, chosen).squeeze(-1);
  const auto sigma = m.log_sigma.gather(-1, chosen).squeeze(-1).exp();
  return mean + (scale_noise ? std::sqrt(temperature) : 1.0) * sigma * normals;
}

}  // namespace rlgo::nets

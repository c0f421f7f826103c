#include "core/base/error.h"
#include "core/exec/kernels.h"

namespace rlgo::exec {

using ops::Attr;

void activate_in_place(at::Tensor& x, std::string_view act) {
  if (act == "none") return;
  if (act == "relu") {
    x.relu_();
  } else if (act == "sigmoid") {
    x.sigmoid_();
  } else if (act == "tanh") {
    x.tanh_();
  } else if (act == "gelu") {
    at::gelu_(x, "none");
  } else if (act == "hard_swish") {
    at::hardswish_(x);
  } else {
    fail("internal: no activation '{}' (this is a bug of rlgo)", act);
  }
}

Tensors add_kernel(const Call& call) { return {at::add(call.in[0], call.in[1])}; }
Tensors sub_kernel(const Call& call) { return {at::sub(call.in[0], call.in[1])}; }
Tensors mul_kernel(const Call& call) { return {at::mul(call.in[0], call.in[1])}; }
Tensors div_kernel(const Call& call) {
  if (ops::is_float(call.info.outputs[0].dtype)) return {at::div(call.in[0], call.in[1])};
  if (!call.in[1].is_signed()) return {at::div(call.in[0], call.in[1], "trunc")};
  // The processor traps at the smallest integer over -1, which wraps around as a negation does.
  const at::Tensor minus = call.in[1] == -1;
  if (!minus.any().item<bool>()) return {at::div(call.in[0], call.in[1], "trunc")};
  const at::Tensor quotient = at::div(call.in[0], call.in[1].masked_fill(minus, 1), "trunc");
  return {at::where(minus, at::neg(quotient), quotient)};
}
Tensors min_kernel(const Call& call) { return {at::minimum(call.in[0], call.in[1])}; }
Tensors max_kernel(const Call& call) { return {at::maximum(call.in[0], call.in[1])}; }
Tensors pow_kernel(const Call& call) { return {at::pow(call.in[0], call.in[1])}; }

Tensors relu_kernel(const Call& call) { return {at::relu(call.in[0])}; }
Tensors sigmoid_kernel(const Call& call) { return {at::sigmoid(call.in[0])}; }
Tensors tanh_kernel(const Call& call) { return {at::tanh(call.in[0])}; }
Tensors gelu_kernel(const Call& call) { return {at::gelu(call.in[0], call.attrs().word(Attr::approximate))}; }
Tensors erf_kernel(const Call& call) { return {at::erf(call.in[0])}; }
Tensors sqrt_kernel(const Call& call) { return {at::sqrt(call.in[0])}; }
Tensors exp_kernel(const Call& call) { return {at::exp(call.in[0])}; }
Tensors log_kernel(const Call& call) { return {at::log(call.in[0])}; }
Tensors neg_kernel(const Call& call) { return {at::neg(call.in[0])}; }
Tensors abs_kernel(const Call& call) { return {at::abs(call.in[0])}; }
Tensors clip_kernel(const Call& call) {
  return {at::clamp(call.in[0], call.attrs().f(Attr::min), call.attrs().f(Attr::max))};
}
Tensors prelu_kernel(const Call& call) { return {at::where(call.in[0] > 0, call.in[0], call.in[0] * call.in[1])}; }
Tensors leaky_relu_kernel(const Call& call) { return {at::leaky_relu(call.in[0], call.attrs().f(Attr::alpha))}; }
Tensors hard_sigmoid_kernel(const Call& call) {
  at::Tensor out = call.in[0] * call.attrs().f(Attr::alpha);
  return {out.add_(call.attrs().f(Attr::beta)).clamp_(0.0, 1.0)};
}
Tensors hard_swish_kernel(const Call& call) { return {at::hardswish(call.in[0])}; }

// LibTorch's own is linear from 20 on, which double precision sees.
static at::Tensor stable_softplus(const at::Tensor& x) { return at::relu(x) + at::log1p(at::exp(at::neg(at::abs(x)))); }

Tensors softplus_kernel(const Call& call) { return {stable_softplus(call.in[0])}; }
Tensors elu_kernel(const Call& call) { return {at::elu(call.in[0], call.attrs().f(Attr::alpha))}; }
Tensors selu_kernel(const Call& call) {
  return {at::elu(call.in[0], call.attrs().f(Attr::alpha), call.attrs().f(Attr::gamma))};
}
Tensors celu_kernel(const Call& call) {
  const double alpha = call.attrs().f(Attr::alpha);
  return {at::elu(call.in[0], alpha, 1.0, 1 / alpha)};
}
Tensors mish_kernel(const Call& call) { return {call.in[0] * at::tanh(stable_softplus(call.in[0]))}; }
Tensors swish_kernel(const Call& call) { return {call.in[0] * at::sigmoid(call.in[0] * call.attrs().f(Attr::alpha))}; }
Tensors softsign_kernel(const Call& call) { return {call.in[0] / (at::abs(call.in[0]) + 1)}; }
Tensors thresholded_relu_kernel(const Call& call) {
  const at::Tensor& x = call.in[0];
  return {at::where(x > call.attrs().f(Attr::alpha), x, at::zeros_like(x))};
}
Tensors ceil_kernel(const Call& call) { return {at::ceil(call.in[0])}; }
Tensors floor_kernel(const Call& call) { return {at::floor(call.in[0])}; }
Tensors round_kernel(const Call& call) { return {at::round(call.in[0])}; }
Tensors sign_kernel(const Call& call) { return {at::sign(call.in[0])}; }
Tensors sin_kernel(const Call& call) { return {at::sin(call.in[0])}; }
Tensors cos_kernel(const Call& call) { return {at::cos(call.in[0])}; }
Tensors reciprocal_kernel(const Call& call) { return {at::reciprocal(call.in[0])}; }
Tensors mod_kernel(const Call& call) {
  at::Tensor divisor = call.in[1];
  // The processor traps at the smallest integer over -1; the rest is 0, as it is over 1.
  if (!divisor.is_floating_point() && divisor.is_signed()) divisor = divisor.masked_fill(divisor == -1, 1);
  return {call.attrs().i(Attr::fmod) == 1 ? at::fmod(call.in[0], divisor) : at::remainder(call.in[0], divisor)};
}

}  // namespace rlgo::exec

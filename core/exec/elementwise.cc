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

}  // namespace rlgo::exec

#include <numeric>

#include "core/exec/kernels.h"

namespace rlgo::exec {

using ops::Attr;

Tensors reduce_mean_kernel(const Call& call) {
  return {at::mean(call.in[0], call.attrs().ints(Attr::axes), call.attrs().i(Attr::keepdims) == 1)};
}
Tensors reduce_sum_kernel(const Call& call) {
  return {at::sum(call.in[0], call.attrs().ints(Attr::axes), call.attrs().i(Attr::keepdims) == 1)};
}
Tensors reduce_max_kernel(const Call& call) {
  return {at::amax(call.in[0], call.attrs().ints(Attr::axes), call.attrs().i(Attr::keepdims) == 1)};
}

Tensors reduce_min_kernel(const Call& call) {
  return {at::amin(call.in[0], call.attrs().ints(Attr::axes), call.attrs().i(Attr::keepdims) == 1)};
}
Tensors reduce_prod_kernel(const Call& call) {
  const auto& axes = call.attrs().ints(Attr::axes);
  at::Tensor out = call.in[0];
  for (size_t k = axes.size(); k-- > 0;) out = at::prod(out, axes[k], call.attrs().i(Attr::keepdims) == 1);
  return {out};
}
Tensors reduce_l1_kernel(const Call& call) {
  return {at::sum(at::abs(call.in[0]), call.attrs().ints(Attr::axes), call.attrs().i(Attr::keepdims) == 1)};
}
static at::Tensor sum_square(const Call& call) {
  return at::sum(at::square(call.in[0]), call.attrs().ints(Attr::axes), call.attrs().i(Attr::keepdims) == 1);
}
Tensors reduce_l2_kernel(const Call& call) { return {at::sqrt(sum_square(call))}; }
Tensors reduce_sum_square_kernel(const Call& call) { return {sum_square(call)}; }
Tensors reduce_log_sum_kernel(const Call& call) { return {at::log(reduce_sum_kernel(call)[0])}; }
Tensors reduce_log_sum_exp_kernel(const Call& call) {
  return {at::logsumexp(call.in[0], call.attrs().ints(Attr::axes), call.attrs().i(Attr::keepdims) == 1)};
}

// `arg` gives the first of equal elements; the last one is the first of the reversed axis.
template <typename Arg>
static Tensors place(const Call& call, Arg arg) {
  const int64_t axis = call.attrs().i(Attr::axis);
  const bool last = call.attrs().i(Attr::select_last) == 1, keep = call.attrs().i(Attr::keepdims) == 1;
  const at::Tensor at = arg(last ? at::flip(call.in[0], {axis}) : call.in[0], axis, keep);
  return {last ? call.in[0].size(axis) - 1 - at : at};
}
Tensors arg_max_kernel(const Call& call) {
  return place(call, [](const at::Tensor& x, int64_t axis, bool keep) { return at::argmax(x, axis, keep); });
}
Tensors arg_min_kernel(const Call& call) {
  return place(call, [](const at::Tensor& x, int64_t axis, bool keep) { return at::argmin(x, axis, keep); });
}

Tensors log_softmax_kernel(const Call& call) { return {at::log_softmax(call.in[0], call.attrs().i(Attr::axis))}; }

Tensors softmax_kernel(const Call& call) { return {at::softmax(call.in[0], call.attrs().i(Attr::axis))}; }

Tensors layer_norm_kernel(const Call& call) {
  const auto bias = call.in.size() == 3 ? std::optional(call.in[2]) : std::nullopt;
  return {at::layer_norm(call.in[0], call.in[1].sizes(), call.in[1], bias, call.attrs().f(Attr::eps))};
}

static Tensors normal_groups(const Call& call, int64_t groups) {
  return {at::group_norm(call.in[0], groups, call.in[1], call.in[2], call.attrs().f(Attr::eps),
                         /*cudnn_enabled=*/false)};
}
Tensors instance_norm_kernel(const Call& call) { return normal_groups(call, call.in[0].size(1)); }
Tensors group_norm_kernel(const Call& call) { return normal_groups(call, call.attrs().i(Attr::group)); }

Tensors rms_norm_kernel(const Call& call) {
  const at::Tensor& x = call.in[0];
  std::vector<int64_t> axes(static_cast<size_t>(x.dim() - call.attrs().i(Attr::axis)));
  std::iota(axes.begin(), axes.end(), call.attrs().i(Attr::axis));
  const at::Tensor square = at::mean(at::square(x), axes, /*keepdim=*/true);
  return {x / at::sqrt(square + call.attrs().f(Attr::eps)) * call.in[1]};
}

Tensors lp_norm_kernel(const Call& call) {
  const at::Tensor norm = at::linalg_vector_norm(call.in[0], call.attrs().i(Attr::order),
                                                 at::IntArrayRef{call.attrs().i(Attr::axis)}, /*keepdim=*/true);
  return {call.in[0] / norm.masked_fill(norm == 0, 1)};
}

Tensors batch_norm_kernel(const Call& call) {
  return {at::batch_norm(call.in[0], call.in[1], call.in[2], call.in[3], call.in[4], /*training=*/false,
                         /*momentum=*/0.0, call.attrs().f(Attr::eps), /*cudnn_enabled=*/true)};
}

}  // namespace rlgo::exec

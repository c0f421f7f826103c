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

Tensors softmax_kernel(const Call& call) { return {at::softmax(call.in[0], call.attrs().i(Attr::axis))}; }

Tensors layer_norm_kernel(const Call& call) {
  const auto bias = call.in.size() == 3 ? std::optional(call.in[2]) : std::nullopt;
  return {at::layer_norm(call.in[0], call.in[1].sizes(), call.in[1], bias, call.attrs().f(Attr::eps))};
}

Tensors batch_norm_kernel(const Call& call) {
  return {at::batch_norm(call.in[0], call.in[1], call.in[2], call.in[3], call.in[4], /*training=*/false,
                         /*momentum=*/0.0, call.attrs().f(Attr::eps), /*cudnn_enabled=*/true)};
}

}  // namespace rlgo::exec

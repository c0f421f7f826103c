#include "core/exec/kernels.h"

namespace rlgo::exec {

using ops::Attr;

Tensors concat_kernel(const Call& call) {
  return {at::cat(at::TensorList(call.in.data(), call.in.size()), call.attrs().i(Attr::axis))};
}

// Copies rather than views, here and in slice: that is what runtimes of exported models do, and later kernels then read
// contiguous memory.
Tensors split_kernel(const Call& call) {
  Tensors out = at::split_with_sizes_copy(call.in[0], call.attrs().ints(Attr::sizes), call.attrs().i(Attr::axis));
  return out;
}

Tensors transpose_kernel(const Call& call) { return {call.in[0].permute(call.attrs().ints(Attr::perm)).contiguous()}; }

Tensors reshape_kernel(const Call& call) { return {call.in[0].reshape(sizes_of(call.info.outputs[0]))}; }

Tensors slice_kernel(const Call& call) {
  const auto& attrs = call.attrs();
  const auto &axes = attrs.ints(Attr::axes), &starts = attrs.ints(Attr::starts), &ends = attrs.ints(Attr::ends),
             &steps = attrs.ints(Attr::steps);
  at::Tensor out = call.in[0];
  for (size_t k = 0; k < axes.size(); ++k) out = out.slice(axes[k], starts[k], ends[k], steps[k]);
  return {out.clone(at::MemoryFormat::Contiguous)};
}

Tensors pad_kernel(const Call& call) {
  const auto& pads = call.attrs().ints(Attr::pads);
  const size_t rank = pads.size() / 2;
  std::vector<int64_t> innermost_first;
  for (size_t d = rank; d-- > 0;) {
    innermost_first.push_back(pads[d]);
    innermost_first.push_back(pads[rank + d]);
  }
  return {at::constant_pad_nd(call.in[0], innermost_first, call.attrs().f(Attr::value))};
}

// Indices in [-extent, extent), as ONNX.
Tensors gather_kernel(const Call& call) {
  const int64_t axis = call.attrs().i(Attr::axis);
  const at::Tensor &data = call.in[0], indices = call.in[1].reshape({-1});
  const at::Tensor wrapped = at::where(indices < 0, indices + data.size(axis), indices);
  return {at::index_select(data, axis, wrapped).view(sizes_of(call.info.outputs[0]))};
}

Tensors cast_kernel(const Call& call) {
  return {call.in[0].to(to_torch(call.info.outputs[0].dtype, call.precision), /*non_blocking=*/false, /*copy=*/true)};
}

Tensors fill_kernel(const Call& call) {
  const auto& type = call.info.outputs[0];
  return {at::full(sizes_of(type), call.attrs().f(Attr::value), call.options(type.dtype))};
}

Tensors literal_kernel(const Call& call) {
  const auto& type = call.info.outputs[0];
  const auto& values = call.attrs().ints(Attr::values);
  const at::Tensor whole = at::tensor(std::vector<int64_t>(values.begin(), values.end()), at::kLong);
  return {whole.reshape(sizes_of(type)).to(call.options(type.dtype))};
}

}  // namespace rlgo::exec

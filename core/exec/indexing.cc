// Operators that place elements by indices or in blocks, sums along an axis, and triangles.
#include "core/exec/kernels.h"

namespace rlgo::exec {
namespace {

using ops::Attr;

// Indices in [-extent, extent), as ONNX, from the front.
at::Tensor from_front(const at::Tensor& indices, int64_t extent) {
  const at::Tensor whole = indices.to(at::kLong);
  return at::where(whole < 0, whole + extent, whole);
}

// For each list of indices, which of the blocks of x behind `batch` and the indexed axes it picks. [lists]
at::Tensor block_of(const at::Tensor& x, const at::Tensor& indices, int64_t batch) {
  const int64_t depth = indices.size(-1);
  at::Tensor lists = indices.to(at::kLong).reshape({-1, depth});
  int64_t batches = 1;
  for (int64_t d = 0; d < batch; ++d) batches *= x.size(d);
  at::Tensor block = at::arange(lists.size(0), lists.options()).floor_divide(lists.size(0) / batches);
  for (int64_t d = 0; d < depth; ++d)
    block = block * x.size(batch + d) + from_front(lists.select(1, d), x.size(batch + d));
  return block;
}

// x as [blocks, elements of a block] for lists of `depth` indices behind `batch` axes.
at::Tensor in_blocks(const at::Tensor& x, int64_t axes) {
  int64_t blocks = 1;
  for (int64_t d = 0; d < axes; ++d) blocks *= x.size(d);
  return x.reshape({blocks, -1});
}

// The name of a reduction in LibTorch.
std::string_view reduction_of(const std::string& word) {
  return word == "mul" ? "prod" : word == "max" ? "amax" : "amin";
}

// index_reduce() fails on floats of 16 bits (LibTorch 2.11).
at::Tensor reduced(const at::Tensor& blocks, const at::Tensor& places, const at::Tensor& updates,
                   std::string_view how) {
  if (!at::isReducedFloatingType(blocks.scalar_type())) return at::index_reduce(blocks, 0, places, updates, how);
  return at::index_reduce(blocks.to(at::kFloat), 0, places, updates.to(at::kFloat), how).to(blocks.scalar_type());
}

}  // namespace

Tensors depth_to_space_kernel(const Call& call) {
  const at::Tensor& x = call.in[0];
  const int64_t b = call.attrs().i(Attr::blocksize);
  if (call.attrs().word(Attr::mode) == "CRD") return {at::pixel_shuffle(x, b).contiguous()};
  const at::Tensor parts = x.reshape({x.size(0), b, b, x.size(1) / (b * b), x.size(2), x.size(3)});
  return {parts.permute({0, 3, 4, 1, 5, 2}).reshape(sizes_of(call.info.outputs[0]))};
}

Tensors space_to_depth_kernel(const Call& call) {
  const at::Tensor& x = call.in[0];
  const int64_t b = call.attrs().i(Attr::blocksize);
  const at::Tensor parts = x.reshape({x.size(0), x.size(1), x.size(2) / b, b, x.size(3) / b, b});
  return {parts.permute({0, 3, 5, 1, 2, 4}).reshape(sizes_of(call.info.outputs[0]))};
}

Tensors gather_elements_kernel(const Call& call) {
  const int64_t axis = call.attrs().i(Attr::axis);
  return {at::gather(call.in[0], axis, from_front(call.in[1], call.in[0].size(axis)))};
}

Tensors scatter_elements_kernel(const Call& call) {
  const int64_t axis = call.attrs().i(Attr::axis);
  const at::Tensor &x = call.in[0], places = from_front(call.in[1], x.size(axis));
  const auto& reduction = call.attrs().word(Attr::reduction);
  if (reduction == "none") return {at::scatter(x, axis, places, call.in[2])};
  if (reduction == "add") return {at::scatter_add(x, axis, places, call.in[2])};
  return {at::scatter_reduce(x, axis, places, call.in[2], reduction_of(reduction))};
}

Tensors gather_nd_kernel(const Call& call) {
  const at::Tensor& x = call.in[0];
  const int64_t batch = call.attrs().i(Attr::batch_dims);
  const at::Tensor blocks = in_blocks(x, batch + call.in[1].size(-1));
  return {at::index_select(blocks, 0, block_of(x, call.in[1], batch)).reshape(sizes_of(call.info.outputs[0]))};
}

Tensors scatter_nd_kernel(const Call& call) {
  const at::Tensor& x = call.in[0];
  const at::Tensor blocks = in_blocks(x, call.in[1].size(-1)), places = block_of(x, call.in[1], 0);
  const at::Tensor updates = call.in[2].reshape({places.size(0), blocks.size(1)});
  const auto& reduction = call.attrs().word(Attr::reduction);
  const at::Tensor out = reduction == "none"  ? at::index_copy(blocks, 0, places, updates)
                         : reduction == "add" ? at::index_add(blocks, 0, places, updates)
                                              : reduced(blocks, places, updates, reduction_of(reduction));
  return {out.reshape(sizes_of(call.info.outputs[0]))};
}

Tensors cumsum_kernel(const Call& call) {
  const int64_t axis = call.attrs().i(Attr::axis);
  const bool reverse = call.attrs().i(Attr::reverse) == 1;
  const at::Tensor x = reverse ? call.in[0].flip({axis}) : call.in[0];
  at::Tensor sums = at::cumsum(x, axis, x.scalar_type());
  if (call.attrs().i(Attr::exclusive) == 1) sums = sums - x;
  return {reverse ? sums.flip({axis}) : sums};
}

Tensors trilu_kernel(const Call& call) {
  const int64_t diagonal = call.attrs().i(Attr::diagonal);
  return {call.attrs().i(Attr::upper) == 1 ? at::triu(call.in[0], diagonal) : at::tril(call.in[0], diagonal)};
}

Tensors one_hot_kernel(const Call& call) {
  const int64_t axis = call.attrs().i(Attr::axis), depth = call.attrs().i(Attr::depth);
  std::vector<int64_t> line(static_cast<size_t>(call.in[0].dim()) + 1, 1);
  line[static_cast<size_t>(axis)] = depth;
  const at::Tensor places = at::arange(depth, call.in[0].options().dtype(at::kLong)).reshape(line);
  const at::Tensor on = from_front(call.in[0], depth).unsqueeze(axis) == places;
  return {at::where(on, call.in[1].select(0, 1), call.in[1].select(0, 0))};
}

}  // namespace rlgo::exec

// Operators whose windows slide over the spatial axes of x[N,C,...]: convolutions and pools. One definition serves one
// to three axes; the lists `kernel`, `strides`, `dilations` and `output_padding` have an item for each, `pads` two.
#pragma once

#include <span>

#include "core/ops/op.h"

namespace rlgo::ops {

constexpr size_t kMostSpatialAxes = 3;

// Plain or transposed.
constexpr bool is_convolution(Op op) { return op == Op::conv2d || op == Op::conv_transpose; }
// Convolutions and pools.
constexpr bool has_windows(Op op) {
  return is_convolution(op) || op == Op::max_pool || op == Op::avg_pool || op == Op::global_avg_pool;
}
// Lists with an item, or two, for each spatial axis.
constexpr bool is_window_list(Attr key) {
  return key == Attr::kernel || key == Attr::strides || key == Attr::dilations || key == Attr::output_padding ||
         key == Attr::pads;
}

// The product of the extents behind the first two: of a kernel the elements of its window, of an image its pixels.
int64_t window_elements(const Shape& shape);

// `attrs` are complete: those of its lists that `given` leaves out get the length that the first input asks for. No
// change for operators without windows.
void fit_window_lists(Op op, std::span<const TensorType> inputs, const Attrs& given, Attrs& attrs);

}  // namespace rlgo::ops

// The few differentiable operations that graphs need beyond LibTorch's: rows picked and summed by index, and reductions
// over segments. On the CPU they run as plain loops (kernels.h), elsewhere as LibTorch operations (`native`).
#pragma once

#include <torch/types.h>

namespace rlgo::nets {

using torch::Tensor;

// Rows of `table` [R,W], chosen by `index` [M] int64, each in [0,R).
struct Rows {
  Tensor table;
  Tensor index;
};

// base [M,W] + a.table[a.index] + b.table[b.index] + c.table[c.index]. `base`, `c`, or `b` and `c` may be undefined
// (left out). The linear map of a concatenation [x_i, y_j, z_k] is such a sum of maps done once per row of each table.
Tensor add_rows(const Tensor& base, const Rows& a, const Rows& b = {}, const Rows& c = {});

// [rows,W]: row r is the sum of all x[i] with index[i] == r (zero where there is none). x [M,W], index [M] int64.
Tensor scatter_sum(const Tensor& x, const Tensor& index, int64_t rows);

// [segments,W]: column-wise maxima of x [M,W] over each segment. `segment` [M] int64 is sorted and names every segment
// in [0,segments) at least once. The gradient goes to the first maximum.
Tensor segment_max(const Tensor& x, const Tensor& segment, int64_t segments);

// [M]: log-softmax of x [M] within each segment; `segment` as for segment_max.
Tensor segment_log_softmax(const Tensor& x, const Tensor& segment, int64_t segments);

// The same by LibTorch's operations, on any device (segment_max: gradient shared among equal maxima).
namespace native {
Tensor add_rows(const Tensor& base, const Rows& a, const Rows& b = {}, const Rows& c = {});
Tensor scatter_sum(const Tensor& x, const Tensor& index, int64_t rows);
Tensor segment_max(const Tensor& x, const Tensor& segment, int64_t segments);
Tensor segment_log_softmax(const Tensor& x, const Tensor& segment, int64_t segments);
}  // namespace native

}  // namespace rlgo::nets

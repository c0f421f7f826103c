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

// [rows,W]: row r is the sum of all x[from[i]] with to[i] == r. x [M,W]; from, to [K] int64.
Tensor link_sum(const Tensor& x, const Tensor& from, const Tensor& to, int64_t rows);

// S sums over rows, each row with a whole number before it: sum s adds count[k] * x[row[k]] for k in [begin[s],
// begin[s+1]), and sum s - 1 where chained[s]: graphs that follow one another differ in a few rows only. All int64 and
// on one device.
struct SparseCounts {
  Tensor begin;         // [S+1]
  Tensor row, count;    // [K]
  Tensor chained;       // [S]; chained[0] is 0
  Tensor sum;           // [K] the sum that each entry belongs to
  bool chains = false;  // whether any is chained; only on the CPU
};
// [S,W], x [M,W].
Tensor counted_sum(const Tensor& x, const SparseCounts& counts);

// [segments,W]: column-wise maxima of x [M,W] over each segment. `segment` [M] int64 is sorted and names every segment
// in [0,segments) at least once. The gradient goes to the first maximum.
Tensor segment_max(const Tensor& x, const Tensor& segment, int64_t segments);

// [groups,2]: the largest of x [M], all >= 0, in each group, and log(1 + their sum); 0 where there is none.
Tensor largest_and_sum(const Tensor& x, const Tensor& group, int64_t groups);

// [M]: log-softmax of x [M] within each segment; `segment` as for segment_max.
Tensor segment_log_softmax(const Tensor& x, const Tensor& segment, int64_t segments);

// The same by LibTorch's operations, on any device (segment_max: gradient shared among equal maxima).
namespace native {
Tensor add_rows(const Tensor& base, const Rows& a, const Rows& b = {}, const Rows& c = {});
Tensor scatter_sum(const Tensor& x, const Tensor& index, int64_t rows);
Tensor link_sum(const Tensor& x, const Tensor& from, const Tensor& to, int64_t rows);
Tensor counted_sum(const Tensor& x, const SparseCounts& counts);  // none chained
Tensor segment_max(const Tensor& x, const Tensor& segment, int64_t segments);
Tensor segment_log_softmax(const Tensor& x, const Tensor& segment, int64_t segments);
}  // namespace native

}  // namespace rlgo::nets

// CPU loops for one thread, behind core/nets/graph_ops.h and the agents of this folder. LibTorch's own index_add costs
// a call per row, which is most of the time of a small graph. Rows are contiguous in themselves; `stride` is the
// distance between rows in items. float and double.
#pragma once

#include <cstdint>

namespace rlgo::agent::kernels {

// out[i][:] += table[index[i]][:] for i < rows. out has stride width.
template <typename T>
void add_rows(T* out, const T* table, int64_t table_stride, const int64_t* index, int64_t rows, int64_t width);

// out[index[i]][:] += x[i][:] for i < rows. out has stride width.
template <typename T>
void scatter_rows(T* out, const T* x, int64_t x_stride, const int64_t* index, int64_t rows, int64_t width);

// out[to[i]][:] += x[from[i]][:] for i < links. out has stride width.
template <typename T>
void link_rows(T* out, const T* x, int64_t x_stride, const int64_t* from, const int64_t* to, int64_t links,
               int64_t width);

// Weighted sums of rows, see SparseCounts in core/nets/graph_ops.h. out [sums, width] is overwritten.
template <typename T>
void counted_sum(T* out, const T* x, int64_t x_stride, const int64_t* begin, const int64_t* row, const int64_t* count,
                 const int64_t* chained, int64_t sums, int64_t width);
// Adds the transposed of that to grad_x [rows, width]; `grad` [sums, width] is used as scratch.
template <typename T>
void counted_sum_backward(T* grad_x, T* grad, const int64_t* begin, const int64_t* row, const int64_t* count,
                          const int64_t* chained, int64_t sums, int64_t width);

// Column-wise maxima of runs of equal `segment` (sorted); argmax gets the row of each maximum, the first on ties.
template <typename T>
void segment_max(T* out, int64_t* argmax, const T* x, int64_t x_stride, const int64_t* segment, int64_t rows,
                 int64_t width);

// out[i] = x[i] - log(sum of exp(x[j]) over the run of segment[i]).
template <typename T>
void segment_log_softmax(T* out, const T* x, const int64_t* segment, int64_t rows);

// grad_x[i] = grad[i] - exp(out[i]) * (sum of grad over the run of segment[i]).
template <typename T>
void segment_log_softmax_backward(T* grad_x, const T* grad, const T* out, const int64_t* segment, int64_t rows);

// to[c] += from[c], to[c] += times * from[c], to[c] = max(to[c], from[c]) for c < width.
void add(float* to, const float* from, int64_t width);
void add_times(float* to, const float* from, float times, int64_t width);
void raise(float* to, const float* from, int64_t width);

// out [rows, outputs] = x [rows, inputs] * weight [inputs, outputs] + bias [outputs] (nullptr: 0).
void linear(float* out, const float* x, const float* weight, const float* bias, int64_t rows, int64_t inputs,
            int64_t outputs);
// Layer norm of each row of x [rows, width], in place, as LibTorch's with its default epsilon.
void layer_norm(float* x, const float* scale, const float* shift, int64_t rows, int64_t width);

// A table of rows and the row of it that each of some items takes.
template <typename T>
struct TableRows {
  T* table;            // [*, width], row after row
  const int64_t* row;  // [items]
};
// See core/nets/score_rows.h. out[i] = bias + w . relu(sum of tables[t].table[tables[t].row[i]] + sum of features[i][f]
// * directions[f]) for i < items. features [items, columns], directions [columns, width], w [width].
template <typename T>
struct ScoreInput {
  const TableRows<const T>* tables;
  int tables_count;
  const T* features;
  const T* directions;
  int64_t columns;
  const T* w;
  T bias;
  int64_t items, width;
};
template <typename T>  // [items, width]: each item's sum of table rows, features and bias
void score_rows(T* out, const ScoreInput<T>& input);
// Adds to the gradients of tables, directions and w, all in the layout of the input.
template <typename T>
void score_rows_backward(const T* grad, const ScoreInput<T>& input, T* const* grad_tables, T* grad_directions,
                         T* grad_w);

}  // namespace rlgo::agent::kernels

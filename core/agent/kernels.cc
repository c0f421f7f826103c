#include "core/agent/kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/agent/clones.h"

namespace rlgo::agent::kernels {
namespace {

// End of the run that starts at `begin`.
int64_t run_end(const int64_t* segment, int64_t begin, int64_t rows) {
  int64_t end = begin + 1;
  while (end < rows && segment[end] == segment[begin]) ++end;
  return end;
}

// The row before the ReLU of item i.
template <typename T>
inline __attribute__((always_inline)) void hidden_row(T* __restrict h, const ScoreInput<T>& in, int64_t i) {
  std::copy_n(in.tables[0].table + in.tables[0].row[i] * in.width, in.width, h);
  for (int t = 1; t < in.tables_count; ++t) {
    const T* __restrict from = in.tables[t].table + in.tables[t].row[i] * in.width;
    for (int64_t c = 0; c < in.width; ++c) h[c] += from[c];
  }
  for (int64_t f = 0; f < in.columns; ++f) {
    const T times = in.features[i * in.columns + f];
    const T* __restrict direction = in.directions + f * in.width;
    for (int64_t c = 0; c < in.width; ++c) h[c] += times * direction[c];
  }
}

}  // namespace

// Sixteen sums side by side: compilers make vectors of them, on every machine in the same order. A hidden number that
// is not finite stays so, as in LibTorch's relu.
template <typename T>
RLGO_CLONES void score_rows(T* out, const ScoreInput<T>& in) {
  std::vector<T> scratch(static_cast<size_t>(in.width));
  T* __restrict h = scratch.data();
  constexpr int64_t kLanes = 16;
  for (int64_t i = 0; i < in.items; ++i) {
    hidden_row(h, in, i);
    T sums[kLanes] = {};
    int64_t c = 0;
    for (; c + kLanes <= in.width; c += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l) sums[l] += in.w[c + l] * (h[c + l] < 0 ? T(0) : h[c + l]);
    }
    T sum = in.bias;
    for (; c < in.width; ++c) sum += in.w[c] * (h[c] < 0 ? T(0) : h[c]);
    for (const T s : sums) sum += s;
    out[i] = sum;
  }
}

template <typename T>
RLGO_CLONES void score_rows_backward(const T* grad, const ScoreInput<T>& in, T* const* grad_tables, T* grad_directions,
                                     T* grad_w) {
  std::vector<T> scratch(static_cast<size_t>(in.width));
  T* __restrict h = scratch.data();
  T* __restrict to_w = grad_w;
  for (int64_t i = 0; i < in.items; ++i) {
    const T g = grad[i];
    if (g == 0) continue;
    hidden_row(h, in, i);
    for (int64_t c = 0; c < in.width; ++c) {
      to_w[c] += g * (h[c] < 0 ? T(0) : h[c]);
      h[c] = h[c] > 0 ? g * in.w[c] : T(0);
    }
    for (int t = 0; t < in.tables_count; ++t) {
      T* __restrict to = grad_tables[t] + in.tables[t].row[i] * in.width;
      for (int64_t c = 0; c < in.width; ++c) to[c] += h[c];
    }
    for (int64_t f = 0; f < in.columns; ++f) {
      const T times = in.features[i * in.columns + f];
      T* __restrict to = grad_directions + f * in.width;
      for (int64_t c = 0; c < in.width; ++c) to[c] += times * h[c];
    }
  }
}

template <typename T>
RLGO_CLONES void add_rows(T* out, const T* table, int64_t table_stride, const int64_t* index, int64_t rows,
                          int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    T* __restrict to = out + i * width;
    const T* __restrict from = table + index[i] * table_stride;
    for (int64_t c = 0; c < width; ++c) to[c] += from[c];
  }
}

template <typename T>
RLGO_CLONES void scatter_rows(T* out, const T* x, int64_t x_stride, const int64_t* index, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    T* __restrict to = out + index[i] * width;
    const T* __restrict from = x + i * x_stride;
    for (int64_t c = 0; c < width; ++c) to[c] += from[c];
  }
}

template <typename T>
RLGO_CLONES void link_rows(T* out, const T* x, int64_t x_stride, const int64_t* from, const int64_t* to, int64_t links,
                           int64_t width) {
  for (int64_t i = 0; i < links; ++i) {
    T* __restrict target = out + to[i] * width;
    const T* __restrict source = x + from[i] * x_stride;
    for (int64_t c = 0; c < width; ++c) target[c] += source[c];
  }
}

template <typename T>
RLGO_CLONES void counted_sum(T* out, const T* x, int64_t x_stride, const int64_t* begin, const int64_t* row,
                             const int64_t* count, const int64_t* chained, int64_t sums, int64_t width) {
  for (int64_t s = 0; s < sums; ++s) {
    T* __restrict to = out + s * width;
    if (chained[s] != 0) {
      std::copy_n(to - width, width, to);
    } else {
      std::fill_n(to, width, T(0));
    }
    for (int64_t k = begin[s]; k < begin[s + 1]; ++k) {
      const T* __restrict from = x + row[k] * x_stride;
      const T times = static_cast<T>(count[k]);
      for (int64_t c = 0; c < width; ++c) to[c] += times * from[c];
    }
  }
}

template <typename T>
RLGO_CLONES void counted_sum_backward(T* grad_x, T* grad, const int64_t* begin, const int64_t* row,
                                      const int64_t* count, const int64_t* chained, int64_t sums, int64_t width) {
  for (int64_t s = sums; s-- > 0;) {
    const T* __restrict from = grad + s * width;
    for (int64_t k = begin[s]; k < begin[s + 1]; ++k) {
      T* __restrict to = grad_x + row[k] * width;
      const T times = static_cast<T>(count[k]);
      for (int64_t c = 0; c < width; ++c) to[c] += times * from[c];
    }
    if (chained[s] == 0) continue;
    T* __restrict before = grad + (s - 1) * width;
    for (int64_t c = 0; c < width; ++c) before[c] += from[c];
  }
}

template <typename T>
RLGO_CLONES void segment_max(T* out, int64_t* argmax, const T* x, int64_t x_stride, const int64_t* segment,
                             int64_t rows, int64_t width) {
  for (int64_t begin = 0; begin < rows;) {
    const int64_t end = run_end(segment, begin, rows);
    T* best = out + segment[begin] * width;
    int64_t* where = argmax + segment[begin] * width;
    std::copy_n(x + begin * x_stride, width, best);
    std::fill_n(where, width, begin);
    for (int64_t i = begin + 1; i < end; ++i) {
      const T* row = x + i * x_stride;
      for (int64_t c = 0; c < width; ++c) {
        const bool higher = row[c] > best[c];
        best[c] = higher ? row[c] : best[c];
        where[c] = higher ? i : where[c];
      }
    }
    begin = end;
  }
}

template <typename T>
void segment_log_softmax(T* out, const T* x, const int64_t* segment, int64_t rows) {
  for (int64_t begin = 0; begin < rows;) {
    const int64_t end = run_end(segment, begin, rows);
    const T top = *std::max_element(x + begin, x + end);
    T sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += std::exp(x[i] - top);
    const T log_sum = top + std::log(sum);
    for (int64_t i = begin; i < end; ++i) out[i] = x[i] - log_sum;
    begin = end;
  }
}

template <typename T>
void segment_log_softmax_backward(T* grad_x, const T* grad, const T* out, const int64_t* segment, int64_t rows) {
  for (int64_t begin = 0; begin < rows;) {
    const int64_t end = run_end(segment, begin, rows);
    T sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += grad[i];
    for (int64_t i = begin; i < end; ++i) grad_x[i] = grad[i] - std::exp(out[i]) * sum;
    begin = end;
  }
}

#define RLGO_INSTANTIATE(T)                                                                                           \
  template void add_rows<T>(T*, const T*, int64_t, const int64_t*, int64_t, int64_t);                                 \
  template void scatter_rows<T>(T*, const T*, int64_t, const int64_t*, int64_t, int64_t);                             \
  template void link_rows<T>(T*, const T*, int64_t, const int64_t*, const int64_t*, int64_t, int64_t);                \
  template void counted_sum<T>(T*, const T*, int64_t, const int64_t*, const int64_t*, const int64_t*, const int64_t*, \
                               int64_t, int64_t);                                                                     \
  template void counted_sum_backward<T>(T*, T*, const int64_t*, const int64_t*, const int64_t*, const int64_t*,       \
                                        int64_t, int64_t);                                                            \
  template void segment_max<T>(T*, int64_t*, const T*, int64_t, const int64_t*, int64_t, int64_t);                    \
  template void score_rows<T>(T*, const ScoreInput<T>&);                                                              \
  template void score_rows_backward<T>(const T*, const ScoreInput<T>&, T* const*, T*, T*);                            \
  template void segment_log_softmax<T>(T*, const T*, const int64_t*, int64_t);                                        \
  template void segment_log_softmax_backward<T>(T*, const T*, const T*, const int64_t*, int64_t);
RLGO_INSTANTIATE(float)
RLGO_INSTANTIATE(double)
#undef RLGO_INSTANTIATE

}  // namespace rlgo::agent::kernels

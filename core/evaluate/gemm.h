// Matrix products in float and double.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/evaluate/parallel.h"

namespace rlgo::evaluate {

// c[rows, columns] += a[rows, depth] * b[depth, columns]. Sums are formed in an order that does not depend on threads.
template <typename T>
struct Product {
  int64_t rows = 0, columns = 0, depth = 0;
  const T* a = nullptr;
  const float* narrow_a = nullptr;  // a where it is held in float, though T is double; `a` is null then
  int64_t a_row = 0, a_column = 1;  // steps between rows and between columns of a
  // Writes b[k + i, n + j] to `to`[i * width + j] for i < depth, j < width; columns behind the last one as 0. May be
  // called by several threads.
  std::function<void(int64_t k, int64_t depth, int64_t n, int64_t width, T* to)> pack_b = {};
  const T* b = nullptr;  // where b's rows lie in memory, b_row apart, its columns neighbours; else only pack_b has them
  const float* narrow_b = nullptr;  // b likewise
  int64_t b_row = 0;
  T* c = nullptr;
  int64_t c_row = 0;  // steps between rows of c, whose columns are neighbours
};

// All of them; for float and double. Uses AVX2 or AVX-512 where the processor has them.
template <typename T>
void multiply(std::span<const Product<T>> products, const Run& run);

// pack_b of a matrix in memory whose rows are `row` apart and whose columns are neighbours; S is T or narrower.
template <typename T, typename S>
auto pack_matrix(const S* b, int64_t row, int64_t columns) {
  return [=](int64_t k, int64_t depth, int64_t n, int64_t width, T* to) {
    constexpr int64_t kAtOnce = 16;  // a loop of known length is no call
    const int64_t inside = std::min(width, columns - n), whole = inside / kAtOnce * kAtOnce;
    const S* from = b + k * row + n;
    for (int64_t i = 0; i < depth; ++i, to += width, from += row) {
      for (int64_t j = 0; j < whole; j += kAtOnce) {
        for (int64_t e = 0; e < kAtOnce; ++e) to[j + e] = from[j + e];
      }
      for (int64_t j = whole; j < inside; ++j) to[j] = from[j];
      std::fill_n(to + inside, width - inside, T(0));
    }
  };
}

// The instruction sets of multiply() that this processor has, the best one last: of "base", "avx2", "avx512".
std::vector<std::string_view> gemm_kernels();
// Makes multiply() use one of them, for tests ("" is the best one).
void gemm_kernel(std::string_view name);

}  // namespace rlgo::evaluate

#include "core/evaluate/gemm.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace rlgo::evaluate {
namespace {

// Adds to c[kRows, 2 vectors] the product of packed a[depth][kRows] and b[depth][2 vectors]. One function for each
// instruction set: a library for every x86-64 chooses when it runs.
#define RLGO_TILE(NAME, TARGET, BYTES, ROWS)                                                                         \
  template <typename T>                                                                                              \
  TARGET void NAME(int64_t depth, const T* a, const T* b, T* c, int64_t c_row) {                                     \
    typedef T Vector __attribute__((vector_size(BYTES), aligned(alignof(T)), may_alias));                            \
    constexpr int kWidth = BYTES / sizeof(T);                                                                        \
    Vector sum[ROWS][2] = {};                                                                                        \
    for (int64_t k = 0; k < depth; ++k, a += ROWS, b += 2 * kWidth) {                                                \
      const Vector left = *reinterpret_cast<const Vector*>(b), right = *reinterpret_cast<const Vector*>(b + kWidth); \
      _Pragma("GCC unroll 16") for (int r = 0; r < ROWS; ++r) {                                                      \
        sum[r][0] += a[r] * left;                                                                                    \
        sum[r][1] += a[r] * right;                                                                                   \
      }                                                                                                              \
    }                                                                                                                \
    _Pragma("GCC unroll 16") for (int r = 0; r < ROWS; ++r, c += c_row) {                                            \
      *reinterpret_cast<Vector*>(c) += sum[r][0];                                                                    \
      *reinterpret_cast<Vector*>(c + kWidth) += sum[r][1];                                                           \
    }                                                                                                                \
  }
RLGO_TILE(tile_base, , 16, 4)
#if defined(__x86_64__)
RLGO_TILE(tile_avx2, __attribute__((target("avx2,fma"))), 32, 6)
RLGO_TILE(tile_avx512, __attribute__((target("avx512f,fma"))), 64, 12)
#endif
#undef RLGO_TILE

template <typename T>
struct Tile {
  int64_t rows, columns;
  void (*run)(int64_t depth, const T* a, const T* b, T* c, int64_t c_row);
};

std::string_view& chosen() {
  static std::string_view kernel = gemm_kernels().back();
  return kernel;
}

template <typename T>
Tile<T> tile() {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
#if defined(__x86_64__)
  if (chosen() == "avx512") return {12, 128 / kSize, tile_avx512<T>};
  if (chosen() == "avx2") return {6, 64 / kSize, tile_avx2<T>};
#endif
  return {4, 32 / kSize, tile_base<T>};
}

constexpr int64_t kDepth = 256, kColumns = 512, kRows = 240;  // of blocks that stay in a core's caches

// Rows [m, m + rows) and columns [k, k + depth) of a, in strips of `strip` rows.
template <typename T>
void pack_a(const Product<T>& p, int64_t m, int64_t rows, int64_t k, int64_t depth, int64_t strip, T* to) {
  for (int64_t r = 0; r < rows; r += strip) {
    const T* from = p.a + (m + r) * p.a_row + k * p.a_column;
    const int64_t inside = std::min(strip, rows - r);
    for (int64_t i = 0; i < depth; ++i, from += p.a_column, to += strip) {
      for (int64_t j = 0; j < inside; ++j) to[j] = from[j * p.a_row];
      for (int64_t j = inside; j < strip; ++j) to[j] = 0;
    }
  }
}

// One strip of rows times one strip of columns; at the edges through a tile of its own.
template <typename T>
void add_tile(const Tile<T>& tile, int64_t depth, const T* a, const T* b, T* c, int64_t c_row, int64_t rows,
              int64_t columns) {
  if (rows == tile.rows && columns == tile.columns) return tile.run(depth, a, b, c, c_row);
  T edge[12 * 32] = {};
  tile.run(depth, a, b, edge, tile.columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < columns; ++j) c[r * c_row + j] += edge[r * tile.columns + j];
  }
}

template <typename T>
void multiply_block(const Product<T>& p, const Tile<T>& tile, int64_t m, int64_t n) {
  const int64_t rows = std::min(kRows, p.rows - m), columns = std::min(kColumns, p.columns - n);
  const int64_t row_strips = (rows + tile.rows - 1) / tile.rows,
                column_strips = (columns + tile.columns - 1) / tile.columns, most = std::min(kDepth, p.depth);
  std::vector<T> a(static_cast<size_t>(row_strips * tile.rows * most)),
      b(static_cast<size_t>(column_strips * tile.columns * most));
  for (int64_t k = 0; k < p.depth; k += kDepth) {
    const int64_t depth = std::min(kDepth, p.depth - k);
    pack_a(p, m, rows, k, depth, tile.rows, a.data());
    for (int64_t s = 0; s < column_strips; ++s)
      p.pack_b(k, depth, n + s * tile.columns, tile.columns, b.data() + s * tile.columns * depth);
    for (int64_t s = 0; s < column_strips; ++s) {
      for (int64_t r = 0; r < row_strips; ++r) {
        add_tile(tile, depth, a.data() + r * tile.rows * depth, b.data() + s * tile.columns * depth,
                 p.c + (m + r * tile.rows) * p.c_row + n + s * tile.columns, p.c_row,
                 std::min(tile.rows, rows - r * tile.rows), std::min(tile.columns, columns - s * tile.columns));
      }
    }
  }
}

}  // namespace

template <typename T>
void multiply(std::span<const Product<T>> products, const Run& run) {
  struct Block {
    const Product<T>* product;
    int64_t m, n;
  };
  std::vector<Block> blocks;
  for (const auto& product : products) {
    for (int64_t n = 0; n < product.columns; n += kColumns) {
      for (int64_t m = 0; m < product.rows; m += kRows) blocks.push_back({&product, m, n});
    }
  }
  const Tile<T> best = tile<T>();
  parallel(run, static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto& block = blocks[static_cast<size_t>(i)];
      multiply_block(*block.product, best, block.m, block.n);
    }
  });
}
template void multiply(std::span<const Product<float>> products, const Run& run);
template void multiply(std::span<const Product<double>> products, const Run& run);

std::vector<std::string_view> gemm_kernels() {
  std::vector<std::string_view> names{"base"};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma")) names.push_back("avx512");
#endif
  return names;
}

void gemm_kernel(std::string_view name) { chosen() = name.empty() ? gemm_kernels().back() : name; }

}  // namespace rlgo::evaluate

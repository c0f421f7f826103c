#include "core/evaluate/gemm.h"

#include <algorithm>
#include <memory>
#include <new>

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
// Adds to c[columns] the sum of a[k * a_step] times row k of b, four rows at a time. b may be narrower: S is float
// where T is double.
#define RLGO_ROW(NAME, TARGET, BYTES)                                                                                  \
  template <typename T, typename S>                                                                                    \
  TARGET void NAME(int64_t depth, const T* a, int64_t a_step, const S* b, int64_t b_row, T* c, int64_t columns) {      \
    typedef T Vector __attribute__((vector_size(BYTES), aligned(alignof(T)), may_alias));                              \
    constexpr int kWidth = BYTES / sizeof(T);                                                                          \
    typedef S Loaded __attribute__((vector_size(kWidth * sizeof(S)), aligned(alignof(S)), may_alias));                 \
    int64_t k = 0;                                                                                                     \
    for (; k + 4 <= depth; k += 4, b += 4 * b_row) {                                                                   \
      const T f0 = a[k * a_step], f1 = a[(k + 1) * a_step], f2 = a[(k + 2) * a_step], f3 = a[(k + 3) * a_step];        \
      int64_t j = 0;                                                                                                   \
      for (; j + kWidth <= columns; j += kWidth) {                                                                     \
        const auto at = [&](int64_t r) { return reinterpret_cast<const Loaded*>(b + r * b_row + j); };                 \
        Vector* to = reinterpret_cast<Vector*>(c + j);                                                                 \
        *to = (((*to + f0 * __builtin_convertvector(*at(0), Vector)) + f1 * __builtin_convertvector(*at(1), Vector)) + \
               f2 * __builtin_convertvector(*at(2), Vector)) +                                                         \
              f3 * __builtin_convertvector(*at(3), Vector);                                                            \
      }                                                                                                                \
      for (; j < columns; ++j)                                                                                         \
        c[j] = (((c[j] + f0 * b[j]) + f1 * b[b_row + j]) + f2 * b[2 * b_row + j]) + f3 * b[3 * b_row + j];             \
    }                                                                                                                  \
    for (; k < depth; ++k, b += b_row) {                                                                               \
      for (int64_t j = 0; j < columns; ++j) c[j] += a[k * a_step] * b[j];                                              \
    }                                                                                                                  \
  }
#define RLGO_SET(NAME, TARGET, BYTES, ROWS) \
  RLGO_TILE(tile_##NAME, TARGET, BYTES, ROWS) RLGO_ROW(row_##NAME, TARGET, BYTES)
RLGO_SET(base, , 16, 4)
#if defined(__x86_64__)
RLGO_SET(avx2, __attribute__((target("avx2,fma"))), 32, 6)
RLGO_SET(avx512, __attribute__((target("avx512f,fma"))), 64, 12)
#endif
#undef RLGO_SET
#undef RLGO_ROW
#undef RLGO_TILE

// What one instruction set computes with.
template <typename T>
struct Tile {
  int64_t rows, columns;
  void (*run)(int64_t depth, const T* a, const T* b, T* c, int64_t c_row);
  template <typename S>
  using AddRow = void (*)(int64_t depth, const T* a, int64_t a_step, const S* b, int64_t b_row, T* c, int64_t columns);
  AddRow<T> add_row;
  AddRow<float> add_narrow_row;
};

std::string_view& chosen() {
  static std::string_view kernel = gemm_kernels().back();
  return kernel;
}

template <typename T>
Tile<T> tile() {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
#if defined(__x86_64__)
  if (chosen() == "avx512") return {12, 128 / kSize, tile_avx512<T>, row_avx512<T, T>, row_avx512<T, float>};
  if (chosen() == "avx2") return {6, 64 / kSize, tile_avx2<T>, row_avx2<T, T>, row_avx2<T, float>};
#endif
  return {4, 32 / kSize, tile_base<T>, row_base<T, T>, row_base<T, float>};
}

constexpr int64_t kDepth = 256, kColumns = 512, kRows = 240;  // of blocks that stay in a core's caches
constexpr int64_t kColumnsInPlace = 1024;                     // of blocks of rows that are read once
constexpr int64_t kFewRows = 8;                               // packing b would take as long as its product
constexpr int64_t kPackedRows = 8;             // of a matrix in memory, whose neighbours the processor fetches ahead
constexpr int64_t kDepthAtOnce = 32 * kDepth;  // between looks at the deadline

// Rows [m, m + rows) and columns [k, k + depth) of a, in strips of `strip` rows.
template <typename T, typename S>
void pack_a(const Product<T>& p, const S* a, int64_t m, int64_t rows, int64_t k, int64_t depth, int64_t strip, T* to) {
  for (int64_t r = 0; r < rows; r += strip) {
    const S* from = a + (m + r) * p.a_row + k * p.a_column;
    const int64_t inside = std::min(strip, rows - r);
    for (int64_t j = 0; j < inside; ++j, from += p.a_row) {
      for (int64_t i = 0; i < depth; ++i) to[i * strip + j] = from[i * p.a_column];
    }
    for (int64_t j = inside; j < strip; ++j) {
      for (int64_t i = 0; i < depth; ++i) to[i * strip + j] = 0;
    }
    to += depth * strip;
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
bool in_memory(const Product<T>& p) {
  return p.b != nullptr || p.narrow_b != nullptr;
}

// b is read where it lies.
template <typename T>
bool few_rows(const Product<T>& p) {
  return p.rows <= kFewRows && p.a != nullptr && in_memory(p);
}

// Some rows and columns of a product.
template <typename T>
struct Block {
  const Product<T>* product;
  int64_t m, rows, n, columns;
};

template <typename T>
void multiply_few_rows(const Block<T>& block, const Tile<T>& tile, int64_t first, int64_t last) {
  const Product<T>& p = *block.product;
  constexpr int64_t kStep = 16;  // rows of b, which stay in the nearest cache for all rows of a
  for (int64_t k = first; k < last; k += kStep) {
    for (int64_t r = block.m; r < block.m + block.rows; ++r) {
      const T* a = p.a + r * p.a_row + k * p.a_column;
      T* c = p.c + r * p.c_row + block.n;
      const int64_t at = k * p.b_row + block.n, depth = std::min(kStep, last - k);
      if (p.b != nullptr) {
        tile.add_row(depth, a, p.a_column, p.b + at, p.b_row, c, block.columns);
      } else {
        tile.add_narrow_row(depth, a, p.a_column, p.narrow_b + at, p.b_row, c, block.columns);
      }
    }
  }
}

struct Freed {
  void operator()(void* memory) const { ::operator delete(memory, kLine); }
  static constexpr std::align_val_t kLine{64};  // a vector that lies in two lines of the cache is read twice
};

template <typename T>
std::unique_ptr<T[], Freed> buffer(int64_t count) {
  return std::unique_ptr<T[], Freed>(
      static_cast<T*>(::operator new(static_cast<size_t>(count) * sizeof(T), Freed::kLine)));
}

// Columns [first, last) of a times these rows of b. b is packed once for all rows.
template <typename T>
void multiply_block(const Block<T>& block, const Tile<T>& tile, int64_t first, int64_t last) {
  const Product<T>& p = *block.product;
  if (few_rows(p)) return multiply_few_rows(block, tile, first, last);
  const auto strips = [](int64_t count, int64_t size) { return (count + size - 1) / size; };
  const int64_t column_strips = strips(block.columns, tile.columns), most = std::min(kDepth, last - first);
  const auto a = buffer<T>(strips(std::min(kRows, block.rows), tile.rows) * tile.rows * most),
             b = buffer<T>(column_strips * tile.columns * most);
  const int64_t at_once = in_memory(p) ? kPackedRows : most;
  for (int64_t k = first; k < last; k += kDepth) {
    const int64_t depth = std::min(kDepth, last - k);
    for (int64_t i = 0; i < depth; i += at_once) {
      for (int64_t s = 0; s < column_strips; ++s)
        p.pack_b(k + i, std::min(at_once, depth - i), block.n + s * tile.columns, tile.columns,
                 b.get() + (s * depth + i) * tile.columns);
    }
    for (int64_t m = block.m; m < block.m + block.rows; m += kRows) {
      const int64_t rows = std::min(kRows, block.m + block.rows - m);
      if (p.a != nullptr) {
        pack_a(p, p.a, m, rows, k, depth, tile.rows, a.get());
      } else {
        pack_a(p, p.narrow_a, m, rows, k, depth, tile.rows, a.get());
      }
      for (int64_t s = 0; s < column_strips; ++s) {
        for (int64_t r = 0; r < rows; r += tile.rows) {
          add_tile(tile, depth, a.get() + r * depth, b.get() + s * tile.columns * depth,
                   p.c + (m + r) * p.c_row + block.n + s * tile.columns, p.c_row, std::min(tile.rows, rows - r),
                   std::min(tile.columns, block.columns - s * tile.columns));
        }
      }
    }
  }
}

// Blocks of all rows, or of fewer where else threads had nothing to do. No sum depends on where they end.
template <typename T>
std::vector<Block<T>> blocks_of(std::span<const Product<T>> products, int64_t threads) {
  int64_t wide = 0;
  for (const auto& p : products) wide += (p.columns + kColumns - 1) / kColumns;
  const int64_t parts = wide == 0 || threads == 1 ? 1 : (2 * threads + wide - 1) / wide;
  std::vector<Block<T>> blocks;
  for (const auto& p : products) {
    const int64_t rows = std::clamp<int64_t>((p.rows + parts - 1) / parts, std::min<int64_t>(p.rows, 48), 2 * kRows);
    const int64_t columns = few_rows(p) ? kColumnsInPlace : kColumns;
    for (int64_t n = 0; n < p.columns; n += columns) {
      for (int64_t m = 0; m < p.rows; m += rows)
        blocks.push_back({&p, m, std::min(rows, p.rows - m), n, std::min(columns, p.columns - n)});
    }
  }
  return blocks;
}

}  // namespace

template <typename T>
void multiply(std::span<const Product<T>> products, const Run& run) {
  const auto blocks = blocks_of(products, run.threads);
  const Tile<T> best = tile<T>();
  int64_t depth = 0;
  for (const auto& p : products) depth = std::max(depth, p.depth);
  for (int64_t k = 0; k < depth; k += kDepthAtOnce) {
    parallel(run, static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto& block = blocks[static_cast<size_t>(i)];
        multiply_block(block, best, k, std::min(k + kDepthAtOnce, block.product->depth));
      }
    });
  }
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

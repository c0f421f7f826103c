// Linear maps and norms over a few rows, for one thread: LibTorch's would spend more on the call than on the numbers.
#include <cmath>
#include <cstring>

#include "core/agent/clones.h"
#include "core/agent/kernels.h"

namespace rlgo::agent::kernels {
namespace {

// Sixteen columns in two vectors of the widest registers; processors without them take more of their own.
using Lanes = float __attribute__((vector_size(32)));
constexpr int64_t kLanes = 8, kColumns = 2 * kLanes;

// Not returned: without these registers that would be another calling convention.
inline __attribute__((always_inline)) void load(Lanes& to, const float* from) { std::memcpy(&to, from, sizeof to); }

// Rows times columns of the result, held in registers.
template <int64_t Rows>
inline __attribute__((always_inline)) void tile(float* out, const float* x, const float* weight, const float* bias,
                                                int64_t inputs, int64_t outputs) {
  Lanes left[Rows], right[Rows];
  for (int64_t r = 0; r < Rows; ++r) {
    left[r] = right[r] = Lanes{};
    if (bias == nullptr) continue;
    load(left[r], bias);
    load(right[r], bias + kLanes);
  }
  for (int64_t k = 0; k < inputs; ++k) {
    Lanes a, b;
    load(a, weight + k * outputs);
    load(b, weight + k * outputs + kLanes);
    for (int64_t r = 0; r < Rows; ++r) {
      const float factor = x[r * inputs + k];
      left[r] += factor * a;
      right[r] += factor * b;
    }
  }
  for (int64_t r = 0; r < Rows; ++r) {
    std::memcpy(out + r * outputs, &left[r], sizeof left[r]);
    std::memcpy(out + r * outputs + kLanes, &right[r], sizeof right[r]);
  }
}

template <int64_t Rows>
inline __attribute__((always_inline)) void row_block(float* out, const float* x, const float* weight, const float* bias,
                                                     int64_t inputs, int64_t outputs) {
  int64_t c = 0;
  for (; c + kColumns <= outputs; c += kColumns)
    tile<Rows>(out + c, x, weight + c, bias == nullptr ? nullptr : bias + c, inputs, outputs);
  for (; c < outputs; ++c) {
    for (int64_t r = 0; r < Rows; ++r) {
      float sum = bias == nullptr ? 0 : bias[c];
      for (int64_t k = 0; k < inputs; ++k) sum += x[r * inputs + k] * weight[k * outputs + c];
      out[r * outputs + c] = sum;
    }
  }
}

}  // namespace

RLGO_FUSED_CLONES void linear(float* out, const float* x, const float* weight, const float* bias, int64_t rows,
                              int64_t inputs, int64_t outputs) {
  constexpr int64_t kRows = 4;
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows)
    row_block<kRows>(out + r * outputs, x + r * inputs, weight, bias, inputs, outputs);
  for (; r < rows; ++r) row_block<1>(out + r * outputs, x + r * inputs, weight, bias, inputs, outputs);
}

RLGO_CLONES void add(float* to, const float* from, int64_t width) {
  float* __restrict a = to;
  for (int64_t c = 0; c < width; ++c) a[c] += from[c];
}

RLGO_CLONES void add_times(float* to, const float* from, float times, int64_t width) {
  float* __restrict a = to;
  for (int64_t c = 0; c < width; ++c) a[c] += times * from[c];
}

RLGO_CLONES void raise(float* to, const float* from, int64_t width) {
  float* __restrict a = to;
  for (int64_t c = 0; c < width; ++c) a[c] = from[c] > a[c] ? from[c] : a[c];
}

RLGO_CLONES void layer_norm(float* x, const float* scale, const float* shift, int64_t rows, int64_t width) {
  constexpr double kEpsilon = 1e-5;
  for (int64_t r = 0; r < rows; ++r) {
    float* row = x + r * width;
    double sum = 0, square = 0;
    for (int64_t c = 0; c < width; ++c) sum += static_cast<double>(row[c]);
    const double mean = sum / static_cast<double>(width);
    for (int64_t c = 0; c < width; ++c) {
      const double d = static_cast<double>(row[c]) - mean;
      square += d * d;
    }
    const auto by = static_cast<float>(1 / std::sqrt(square / static_cast<double>(width) + kEpsilon));
    const auto center = static_cast<float>(mean);
    for (int64_t c = 0; c < width; ++c) row[c] = (row[c] - center) * by * scale[c] + shift[c];
  }
}

}  // namespace rlgo::agent::kernels

// The plug-in's kernels: for nvcc (kernels.cu), and for the tests' stand-in of a GPU, which runs them on the host. Each
// computes output number `i`; folds share it among the `lanes` threads of a block (on the host there is one).
#pragma once

#include "core/gpu/cuda/elements.h"

namespace rlgo::gpu {

// Memory place of element `i` of a walk over `extents`.
template <typename Index>
RLGO_DEVICE int64_t place_by(Index i, int32_t axes, const int64_t* extents, const int64_t* steps) {
  int64_t place = 0;
  for (int32_t d = axes - 1; d > 0; --d) {
    const Index extent = static_cast<Index>(extents[d]), rest = i / extent;
    place += static_cast<int64_t>(i - rest * extent) * steps[d];
    i = rest;
  }
  return axes > 0 ? place + static_cast<int64_t>(i) * steps[0] : 0;
}
// Division of 32 bits is several times as fast on a GPU.
RLGO_DEVICE int64_t place_of(int64_t i, int32_t axes, const int64_t* extents, const int64_t* steps) {
  if (i <= 0x7fffffff) return place_by(static_cast<uint32_t>(i), axes, extents, steps);
  return place_by(i, axes, extents, steps);
}

// Output i of a map.
template <typename T>
RLGO_DEVICE void map_element(const Map& p, int64_t i) {
  T v[kMostInputs] = {};
  for (int32_t k = 0; k < kMostInputs; ++k) {  // a constant bound: unrolled, v stays in registers
    if (k < p.inputs) v[k] = load<T>(p.at.in[k], p.types[k], place_of(i, p.axes, p.extents, p.steps[k]));
  }
  T y = T(p.numbers[0]);
  if (p.function == k_batch_norm) {  // x, scale, bias, mean, variance
    y = (v[0] - v[3]) / sqrt(v[4] + T(p.numbers[0])) * v[1] + v[2];
  } else if (p.function == k_where) {
    y = v[0] != 0 ? v[1] : v[2];
  } else if (p.inputs == 1) {
    y = unary(p, v[0]);
  } else if (p.inputs == 2) {
    y = binary(p.function, v[0], v[1]);
  }
  store(p.at.out, p.out_type, i, y);
}

// Element i of a copy, as so many bits.
template <typename Bits>
RLGO_DEVICE void copy_as(const Copy& p, int64_t i) {
  static_cast<Bits*>(p.at.out)[p.to + place_of(i, p.axes, p.extents, p.to_steps)] =
      static_cast<const Bits*>(p.at.in[0])[p.from + place_of(i, p.axes, p.extents, p.from_steps)];
}
// The same of the size that the copy states.
RLGO_DEVICE void copy_element(const Copy& p, int64_t i) {
  if (p.bytes == 4) return copy_as<uint32_t>(p, i);
  if (p.bytes == 2) return copy_as<uint16_t>(p, i);
  if (p.bytes == 8) return copy_as<uint64_t>(p, i);
  copy_as<uint8_t>(p, i);
}

// `combine` over the values of all threads of the block; each gets the result.
template <typename T, typename F>
RLGO_DEVICE T across(T value, F combine) {
#ifdef __CUDA_ARCH__
  for (int d = 16; d > 0; d /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, d));
  if (blockDim.x > 32) {
    __shared__ T parts[32];
    __syncthreads();  // all have read the parts of the fold before
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (unsigned w = 1; w < blockDim.x / 32; ++w) value = combine(value, parts[w]);
  }
#endif
  return value;
}

// What a fold leaves alone.
template <typename T>
RLGO_DEVICE T fold_start(int32_t fold) {
  constexpr T kHuge = T(INFINITY);
  return fold == kMax ? -kHuge : fold == kMin ? kHuge : T(fold == kProduct);
}
// Two results of a fold as one; a NaN stays one.
template <typename T>
RLGO_DEVICE T fold_pair(int32_t fold, T a, T b) {
  if (fold == kMax) return a != a || a > b ? a : b;
  if (fold == kMin) return a != a || a < b ? a : b;
  return fold == kProduct ? a * b : a + b;
}
// What a fold adds up of an element.
template <typename T>
RLGO_DEVICE T fold_element(int32_t fold, T x) {
  return fold == kL1 ? T(fabs(x)) : fold == kL2 || fold == kSquares ? x * x : x;
}

// Output i of a fold; of a logarithm of exponentials the largest is taken out first.
template <typename T>
RLGO_DEVICE void reduce_row(const Reduce& p, int64_t i, int64_t lane, int64_t lanes) {
  const int64_t base = place_of(i, p.kept_axes, p.kept, p.kept_steps);
  const auto at = [&](int64_t k) {
    return load<T>(p.at.in[0], p.type, base + place_of(k, p.folded_axes, p.folded, p.folded_steps));
  };
  const auto fold_all = [&](int32_t fold, T shift) {
    T sum = fold_start<T>(fold);
    for (int64_t k = lane; k < p.length; k += lanes)
      sum = fold_pair(fold, sum, fold == kLogSumExp ? T(exp(at(k) - shift)) : fold_element(fold, at(k)));
    return across(sum, [=](T a, T b) { return fold_pair(fold, a, b); });
  };
  T shift = 0;
  if (p.fold == kLogSumExp) {
    shift = fold_all(kMax, T(0));
    if (shift - shift != 0) shift = 0;
  }
  T y = fold_all(p.fold, shift);
  if (p.fold == kMean) y /= T(p.length);
  if (p.fold == kL2) y = sqrt(y);
  if (p.fold == kLogSum || p.fold == kLogSumExp) y = T(log(y)) + shift;
  if (lane == 0) store(p.at.out, p.out_type, i, y);
}

// A NaN is more extreme than any number.
template <typename T>
RLGO_DEVICE void place_row(const Reduce& p, int64_t i) {
  const int64_t base = place_of(i, p.kept_axes, p.kept, p.kept_steps), step = p.folded_steps[0];
  int64_t best = p.last != 0 ? p.length - 1 : 0;
  T most = load<T>(p.at.in[0], p.type, base + best * step);
  for (int64_t n = 1; n < p.length; ++n) {
    const int64_t k = p.last != 0 ? p.length - 1 - n : n;
    const T x = load<T>(p.at.in[0], p.type, base + k * step);
    if (most == most && (x != x || (p.fold == kArgMax ? x > most : x < most))) best = k, most = x;
  }
  store(p.at.out, p.out_type, i, static_cast<double>(best));
}

// Row i of a normalisation.
template <typename T>
RLGO_DEVICE void norm_row(const Norm& p, int64_t i, int64_t lane, int64_t lanes) {
  const auto sum = [](T a, T b) { return a + b; };
  const int64_t start = i * p.length;
  T mean = 0, square = 0;
  if (p.centred != 0) {
    for (int64_t k = lane; k < p.length; k += lanes) mean += load<T>(p.at.in[0], p.type, start + k);
    mean = across(mean, sum) / T(p.length);
  }
  for (int64_t k = lane; k < p.length; k += lanes) {
    const T away = load<T>(p.at.in[0], p.type, start + k) - mean;
    square += away * away;
  }
  const T inverse = T(1) / T(sqrt(across(square, sum) / T(p.length) + T(p.eps)));
  for (int64_t k = lane; k < p.length; k += lanes) {
    const int64_t parameter = (p.span == 1 ? k : (start + k) / p.span) % p.parameters;
    T y = (load<T>(p.at.in[0], p.type, start + k) - mean) * inverse * load<T>(p.at.in[1], p.type, parameter);
    if (p.at.in[2] != nullptr) y += load<T>(p.at.in[2], p.type, parameter);
    store(p.at.out, p.type, start + k, y);
  }
}

// Line i of a softmax or norm along an axis; a line of zeros stays one.
template <typename T>
RLGO_DEVICE void line_row(const Lines& p, int64_t i, int64_t lane, int64_t lanes) {
  const int64_t base = i / p.step * p.step * p.length + i % p.step;
  const auto at = [&](int64_t k) { return load<T>(p.at.in[0], p.type, base + k * p.step); };
  const bool is_norm = p.function == kNorm1 || p.function == kNorm2;
  T most = -T(INFINITY), sum = 0;
  if (!is_norm) {
    for (int64_t k = lane; k < p.length; k += lanes) most = at(k) > most ? at(k) : most;
    most = across(most, [](T a, T b) { return a > b ? a : b; });
  }
  for (int64_t k = lane; k < p.length; k += lanes) {
    const T x = at(k);
    sum += p.function == kNorm1 ? T(fabs(x)) : p.function == kNorm2 ? x * x : T(exp(x - most));
  }
  sum = across(sum, [](T a, T b) { return a + b; });
  if (p.function == kNorm2) sum = sqrt(sum);
  if (is_norm && sum == 0) sum = 1;
  const T log_sum = p.function == kLogSoftmax ? T(log(sum)) : T(0);
  for (int64_t k = lane; k < p.length; k += lanes) {
    const T x = at(k);
    const T y = is_norm ? x / sum : p.function == kLogSoftmax ? x - most - log_sum : T(exp(x - most)) / sum;
    store(p.at.out, p.type, base + k * p.step, y);
  }
}

}  // namespace rlgo::gpu

// The kernels of pools, gathers and resized images; see kernels.h.
#pragma once

#include "core/gpu/cuda/elements.h"

namespace rlgo::gpu {

// Output i of a pool; what lies in the padding is not read.
template <typename T>
RLGO_DEVICE void pool_element(const Pool& p, int64_t i) {
  int64_t o[3], rest = i, divisor = 1;
  for (int d = 2; d >= 0; --d) o[d] = rest % p.out[d], rest /= p.out[d];
  const int64_t plane = rest * p.in[0] * p.in[1] * p.in[2];
  for (int d = 0; d < 3; ++d) {
    const int64_t start = o[d] * p.strides[d] - p.begins[d], least = p.count_pad != 0 ? -p.begins[d] : 0,
                  most = p.in[d] + (p.count_pad != 0 ? p.ends[d] : 0), end = start + p.kernel[d];
    divisor *= (end < most ? end : most) - (start > least ? start : least);
  }
  T value = p.mean != 0 ? T(0) : -T(INFINITY);
  for (int64_t a = 0; a < p.kernel[0]; ++a) {
    const int64_t x = o[0] * p.strides[0] - p.begins[0] + a * p.dilations[0];
    if (x < 0 || x >= p.in[0]) continue;
    for (int64_t b = 0; b < p.kernel[1]; ++b) {
      const int64_t y = o[1] * p.strides[1] - p.begins[1] + b * p.dilations[1];
      if (y < 0 || y >= p.in[1]) continue;
      for (int64_t c = 0; c < p.kernel[2]; ++c) {
        const int64_t z = o[2] * p.strides[2] - p.begins[2] + c * p.dilations[2];
        if (z < 0 || z >= p.in[2]) continue;
        const T v = load<T>(p.at.in[0], p.type, plane + (x * p.in[1] + y) * p.in[2] + z);
        value = p.mean != 0 ? value + v : value != value || value > v ? value : v;
      }
    }
  }
  store(p.at.out, p.type, i, p.mean != 0 ? value / T(divisor) : value);
}

// Output i of a gather, moved as bits.
RLGO_DEVICE void gather_element(const Gather& p, int64_t i) {
  const int64_t c = i % p.inner, k = i / p.inner % p.indices, a = i / p.inner / p.indices;
  int64_t row = static_cast<int64_t>(load<double>(p.at.in[1], p.index_type, k));
  if (row < 0) row += p.extent;
  const int64_t from = (a * p.extent + row) * p.inner + c;
  if (p.bytes == 4) {
    static_cast<uint32_t*>(p.at.out)[i] = static_cast<const uint32_t*>(p.at.in[0])[from];
  } else if (p.bytes == 2) {
    static_cast<uint16_t*>(p.at.out)[i] = static_cast<const uint16_t*>(p.at.in[0])[from];
  } else if (p.bytes == 8) {
    static_cast<uint64_t*>(p.at.out)[i] = static_cast<const uint64_t*>(p.at.in[0])[from];
  } else {
    static_cast<uint8_t*>(p.at.out)[i] = static_cast<const uint8_t*>(p.at.in[0])[from];
  }
}

// Where output `o` reads along an axis: `part` of the way from pixel `low` to pixel `high`.
struct Between {
  int64_t low, high;
  double part;
};
// For axis 0 (rows) or 1 (columns).
RLGO_DEVICE Between between(const Resize& p, int axis, int64_t o) {
  const int64_t last = p.in[axis] - 1;
  if (p.linear == 0) {  // the whole factor's inverse in float, as LibTorch and ONNX Runtime compute it
    const auto at = static_cast<int64_t>(floorf(static_cast<float>(o) * static_cast<float>(1.0 / p.scale[axis])));
    return {at < last ? at : last, at < last ? at : last, 0};
  }
  double at = (static_cast<double>(o) + 0.5) / p.scale[axis] - 0.5;
  if (p.corners != 0) at = p.out[axis] == 1 ? 0 : static_cast<double>(o * last) / static_cast<double>(p.out[axis] - 1);
  at = at < 0 ? 0 : at;
  const int64_t below = static_cast<int64_t>(at), low = below < last ? below : last;
  const double part = at - static_cast<double>(low);
  return {low, low < last ? low + 1 : last, part < 1 ? part : 1};
}

// Output i of a resized image.
template <typename T>
RLGO_DEVICE void resize_element(const Resize& p, int64_t i) {
  const Between x = between(p, 1, i % p.out[1]), y = between(p, 0, i / p.out[1] % p.out[0]);
  const int64_t plane = i / p.out[1] / p.out[0] * p.in[0] * p.in[1];
  const auto at = [&](int64_t row, int64_t column) {
    return load<T>(p.at.in[0], p.type, plane + row * p.in[1] + column);
  };
  const T right = T(x.part), down = T(y.part);
  const T top = at(y.low, x.low) * (T(1) - right) + at(y.low, x.high) * right;
  const T bottom = at(y.high, x.low) * (T(1) - right) + at(y.high, x.high) * right;
  store(p.at.out, p.type, i, p.linear == 0 ? at(y.low, x.low) : top * (T(1) - down) + bottom * down);
}

}  // namespace rlgo::gpu

// Windows over one to three spatial axes, as three: axes in front have the extent 1.
#pragma once

#include <array>

#include "core/evaluate/kernels.h"

namespace rlgo::evaluate {

using Three = std::array<int64_t, 3>;

struct Windows {
  int64_t planes = 0;  // batch times channels of the input
  Three in, out, kernel, strides, dilations, begins, ends;
  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  int64_t window() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Where element k of the window at output o reads along an axis; outside of [0, in) is padding.
  int64_t at(size_t axis, int64_t o, int64_t k) const { return o * strides[axis] - begins[axis] + k * dilations[axis]; }
};

// Of a convolution or a pool; a convolution's kernel is that of its weight.
Windows windows_of(const Call& call);

}  // namespace rlgo::evaluate

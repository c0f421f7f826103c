// Padding of the last axes of a tensor, in the order of ONNX.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace rlgo::exec {

// x with `value` around its last begin.size() axes, so many elements of it in front and behind; negative: cut off.
at::Tensor padded(const at::Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                  double value);

}  // namespace rlgo::exec

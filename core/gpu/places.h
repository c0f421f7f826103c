// Walks over tensors that share extents, with as few axes as their memory allows: kernels divide once for each.
#pragma once

#include <span>
#include <vector>

#include "core/gpu/lower.h"

namespace rlgo::gpu {

// Steps between elements along each axis of a row-major tensor.
inline std::vector<int64_t> row_major(const ops::Shape& shape) {
  std::vector<int64_t> steps(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  return steps;
}

// The same of `from` along the axes of `to`, to which it broadcasts: 0 where it has one element.
inline std::vector<int64_t> broadcast_steps(const ops::Shape& from, const ops::Shape& to) {
  const auto own = row_major(from);
  std::vector<int64_t> steps(to.size(), 0);
  const size_t more = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) steps[more + d] = from[d] == 1 ? 0 : own[d];
  return steps;
}

class Walk {
 public:
  Walk(const NodeCall& call, const ops::Shape& shape) : call_(call), shape_(shape) {}
  void add(std::vector<int64_t> steps) { steps_.push_back(std::move(steps)); }

  // Drops axes of one element, and joins two where all steps allow it. To be called once, after add().
  void write(int32_t& axes, int64_t (&extents)[kMostAxes]) {
    std::vector<int64_t> joined;
    std::vector<std::vector<int64_t>> steps(steps_.size());
    for (size_t d = 0; d < shape_.size(); ++d) {
      if (shape_[d] == 1) continue;
      bool joins = !joined.empty();
      for (size_t k = 0; joins && k < steps.size(); ++k) joins = steps[k].back() == steps_[k][d] * shape_[d];
      if (!joins) joined.push_back(1);
      joined.back() *= shape_[d];
      for (size_t k = 0; k < steps.size(); ++k) {
        if (!joins) steps[k].push_back(0);
        steps[k].back() = steps_[k][d];
      }
    }
    if (joined.size() > kMostAxes) call_.refuse("more than 8 axes");
    axes = static_cast<int32_t>(joined.size());
    std::ranges::copy(joined, extents);
    steps_ = std::move(steps);
  }
  // Those of tensor number `k`, after write().
  void write_steps(size_t k, int64_t (&steps)[kMostAxes]) const { std::ranges::copy(steps_[k], steps); }

 private:
  const NodeCall& call_;
  ops::Shape shape_;
  std::vector<std::vector<int64_t>> steps_;
};

}  // namespace rlgo::gpu

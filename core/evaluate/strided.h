// Walks over several arrays at once, each with steps of its own along shared axes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/ops/types.h"

namespace rlgo::evaluate {

// Steps between elements along each axis of a row-major tensor.
inline std::vector<int64_t> row_major(const ops::Shape& shape) {
  std::vector<int64_t> steps(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  return steps;
}
// The same to read a tensor of `shape` as one of `wider`, to which it broadcasts.
inline std::vector<int64_t> broadcast_steps(const ops::Shape& shape, const ops::Shape& wider) {
  const auto own = row_major(shape);
  std::vector<int64_t> steps(wider.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) steps[wider.size() - shape.size() + d] = own[d];
  }
  return steps;
}

template <size_t N>
class Walk {  // axes that can be walked as one are joined
 public:
  Walk(const ops::Shape& shape, const std::array<std::vector<int64_t>, N>& steps) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      Axis axis{shape[d], {}};
      for (size_t n = 0; n < N; ++n) axis.steps[n] = steps[n][d];
      if (!axes_.empty() && joins(axes_.back(), axis)) axis.extent *= axes_.back().extent, axes_.pop_back();
      axes_.push_back(axis);
    }
    if (axes_.empty()) axes_.push_back({1, {}});
    for (size_t d = 0; d + 1 < axes_.size(); ++d) rows_ *= axes_[d].extent;
    if (axes_.back().extent == 0) rows_ = 0;
  }
  int64_t rows() const { return rows_; }                                  // all but the innermost axis
  int64_t length() const { return axes_.back().extent; }                  // of the innermost axis
  int64_t step(size_t array) const { return axes_.back().steps[array]; }  // along it
  // body(offsets of the arrays at the row's start) for rows [begin, end).
  template <typename F>
  void each(int64_t begin, int64_t end, F&& body) const {
    for (int64_t row = begin; row < end; ++row) {
      std::array<int64_t, N> at{};
      int64_t rest = row;
      for (size_t d = axes_.size() - 1; d-- > 0;) {
        const int64_t place = rest % axes_[d].extent;
        rest /= axes_[d].extent;
        for (size_t n = 0; n < N; ++n) at[n] += place * axes_[d].steps[n];
      }
      body(at);
    }
  }
  // Rows whose elements are worth a thread.
  int64_t grain() const { return std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(length(), 1)); }

 private:
  struct Axis {
    int64_t extent = 1;
    std::array<int64_t, N> steps{};
  };
  static bool joins(const Axis& outer, const Axis& inner) {
    for (size_t n = 0; n < N; ++n) {
      if (outer.steps[n] != inner.steps[n] * inner.extent) return false;
    }
    return true;
  }
  std::vector<Axis> axes_;
  int64_t rows_ = 1;
};

}  // namespace rlgo::evaluate

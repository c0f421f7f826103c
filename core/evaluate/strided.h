// Walks over several arrays at once, each with steps of its own along shared axes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/evaluate/parallel.h"
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
  // Of the first array at an element, counted in row-major order.
  int64_t offset(int64_t element) const { return offsets(element / length())[0] + element % length() * step(0); }
  // body(offsets of the arrays at the start, number of elements) for all rows, long ones in parts.
  template <typename F>
  void each(const Run& run, F&& body) const {
    const int64_t parts = (length() + kPiece - 1) / kPiece,
                  grain = std::max<int64_t>(1, kPiece / std::max<int64_t>(length(), 1));
    parallel(run, rows_ * parts, grain, [&](int64_t begin, int64_t end) {
      if (parts > 1) {  // then end is begin + 1
        auto at = offsets(begin / parts);
        const int64_t first = begin % parts * kPiece;
        for (size_t n = 0; n < N; ++n) at[n] += first * step(n);
        return body(at, std::min(kPiece, length() - first));
      }
      each(begin, end, [&](const auto& at) { body(at, length()); });
    });
  }
  // body(offsets of the arrays at the row's start) for rows [begin, end).
  template <typename F>
  void each(int64_t begin, int64_t end, F&& body) const {
    if (begin >= end) return;
    auto at = offsets(begin);
    std::vector<int64_t> place(axes_.size());
    int64_t rest = begin;
    for (size_t d = axes_.size() - 1; d-- > 0; rest /= axes_[d].extent) place[d] = rest % axes_[d].extent;
    for (int64_t row = begin; row < end; ++row) {
      body(at);
      for (size_t d = axes_.size() - 1; d-- > 0;) {
        const bool wraps = ++place[d] == axes_[d].extent;
        const int64_t by = wraps ? 1 - axes_[d].extent : 1;
        for (size_t n = 0; n < N; ++n) at[n] += by * axes_[d].steps[n];
        if (!wraps) break;
        place[d] = 0;
      }
    }
  }

 private:
  struct Axis {
    int64_t extent = 1;
    std::array<int64_t, N> steps{};
  };
  std::array<int64_t, N> offsets(int64_t row) const {
    std::array<int64_t, N> at{};
    for (size_t d = axes_.size() - 1; d-- > 0; row /= axes_[d].extent) {
      for (size_t n = 0; n < N; ++n) at[n] += row % axes_[d].extent * axes_[d].steps[n];
    }
    return at;
  }
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

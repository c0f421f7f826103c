// What runs where an open extent is 0, as an empty batch is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/ops/op.h"

namespace rlgo::ops {

// A reshape that need not state how the elements are to be divided among axes.
struct View {
  enum class Kind : uint8_t {
    squeeze,    // leaves out all axes whose extent is 1
    unsqueeze,  // puts such axes between
    flatten,    // two axes: those in front of `axis`, and those from there on
    other,
  };
  Kind kind = Kind::other;
  int64_t axis = 0;  // of flatten
};

// How a reshape from one type to the other may be expressed for all sizes.
View view_of(const TensorType& input, const TensorType& output);

// Neighbouring axes of the input, [first, second), whose extents make up that one.
std::optional<std::pair<int64_t, int64_t>> axes_of(const TensorType& input, const Extent& extent);

// Whether a reshape to that shape (as its attribute has it) fails in ONNX Runtime where an open extent is 0: it copies
// one extent and leaves another to be computed (kSameExtent, kRestExtent), of which no elements leave open, and is
// no such view.
bool needs_elements(const TensorType& input, const Ints& shape, const TensorType& output);

}  // namespace rlgo::ops

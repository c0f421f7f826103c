// Which values may be infinite or NaN because the model's own constants are: attention masks of -inf and what is made
// of them, up to a softmax or a bound.
#pragma once

#include <cstdint>
#include <span>

#include "core/graph/blob.h"
#include "core/ops/op.h"

namespace rlgo::graph {

struct NodeInfo;

// Next to the bits of infinities, of constants: the largest magnitude is a number beyond 2^20 or below 2^-20, not 0.
// Products with such a constant may leave the range of numbers where others do not (core/rules/ranges.h).
constexpr uint8_t kExtreme = 4;
constexpr uint8_t kAllNumberBits = kBothInfinite | kExtreme;

uint8_t infinities_of(double number);  // the bits of a number (blob.h), kExtreme included

// Bits (blob.h) of the numbers in a node's outputs, where `inputs` has those of its inputs, in order. What overflows or
// divides by 0 on the way is none of these; a softmax over -inf counts as finite, as it is unless all of a row is.
uint8_t infinities_of(const NodeInfo& info, std::span<const uint8_t> inputs);

}  // namespace rlgo::graph

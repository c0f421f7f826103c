// Which values may be infinite or NaN because the model's own constants are: attention masks of -inf and what is made
// of them, up to a softmax or a bound.
#pragma once

#include <cstdint>
#include <span>

#include "core/graph/blob.h"
#include "core/ops/op.h"

namespace rlgo::graph {

struct NodeInfo;

uint8_t infinities_of(double number);  // the bits of a number (blob.h)

// Bits (blob.h) of the numbers in a node's outputs, where `inputs` has those of its inputs, in order. What overflows or
// divides by 0 on the way is none of these; a softmax over -inf counts as finite, as it is unless all of a row is.
uint8_t infinities_of(const NodeInfo& info, std::span<const uint8_t> inputs);

}  // namespace rlgo::graph

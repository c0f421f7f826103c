// What both interpreters do for one node of a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::evaluate {

// A value's place in the table of one run; constants keep theirs filled.
using Slot = int32_t;
struct Step {
  graph::NodeId node;
  std::vector<Slot> inputs;
  Slot first_output;
  std::vector<int64_t> index_bounds;  // opaque only
  std::vector<Slot> freed;            // dead after this step
};

}  // namespace rlgo::evaluate

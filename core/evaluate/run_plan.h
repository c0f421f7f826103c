// The order in which a graph's nodes run, and when their values are no longer needed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::evaluate {

// A value's place in the table of one run.
using Slot = int32_t;

// One node that is computed.
struct RunStep {
  graph::NodeId node;
  std::vector<Slot> inputs;
  Slot first_output;
  std::vector<int64_t> index_bounds;  // opaque only
  std::vector<Slot> freed;            // dead after this step
};

// Steps of all nodes but inputs and constants, whose values the table has before a run.
struct RunPlan {
  explicit RunPlan(const graph::Graph& graph);
  Slot slot(graph::Value value) const { return first_slot[value.node] + value.port; }

  std::vector<Slot> first_slot;  // by node id
  size_t slots = 0;
  std::vector<RunStep> steps;
  bool is_synthetic = false;  // a step is of an opaque operator whose results are not known
};

}  // namespace rlgo::evaluate

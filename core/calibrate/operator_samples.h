// Single operators to time: what a cost profile is fitted to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cost/table.h"
#include "core/graph/graph.h"

namespace rlgo::calibrate {

// An operator alone in a graph of its own, with inputs of real shapes and synthetic weights.
struct OperatorSample {
  graph::Graph graph;
  graph::NodeId id = graph::kNoNode;
};
// Operators whose price the same constants of the analytic cost model decide.
struct OperatorKind {
  std::string name;  // "conv_3x3", "conv_grouped", "matmul", "elementwise", "transpose", ...
  std::vector<OperatorSample> samples;
};

// The kind of an operator that costs something: the constant of the profile that it depends on most.
std::string operator_kind(const graph::Graph& graph, graph::NodeId id);

// All different operators of the zoo's models, at their own sizes and at smaller ones, and `drawn` more of each kind
// with sizes drawn from `seed` (channels, pixels, rows, ... by their logarithm); in random order within a kind. What
// profile cpu prices above 20 ms is left out. Takes a second or two.
std::vector<OperatorKind> operator_samples(int drawn, uint64_t seed);

// The operator's time, once it was priced; null if the runtime could not run it. Tables of groups and of single
// operators name it differently.
const cost::Measured* find_time(const cost::TableCost& table, const graph::Graph& graph, graph::NodeId id);

}  // namespace rlgo::calibrate

// The tensor side of fold.h, for the interpreter.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "core/exec/tensors.h"
#include "core/graph/graph.h"

namespace rlgo::exec {

// Constant nodes that a non-constant node or a graph output reads, in topological order. Those of `left` count as not
// constant.
std::vector<graph::NodeId> read_constants(const graph::Graph& graph,
                                          const std::unordered_set<graph::NodeId>& left = {});

// Outputs of the nodes of read_constants() that are not weights, on the CPU; floats in double precision, but of their
// own type where weights are only moved. Weights on the way are loaded one by one and let go after their last use.
std::unordered_map<graph::NodeId, Tensors> compute_constants(const graph::Graph& graph);

// Whether the node's result is rounded, or decided by numbers that are: not where it moves, chooses or widens numbers.
bool is_rounded(const graph::Graph& graph, graph::NodeId id);

}  // namespace rlgo::exec

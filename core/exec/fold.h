// Values of what depends on weights alone, for exporters.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::exec {

// Constant nodes with which the arithmetic of the constants before them, in topological order, would pass
// ops::kMostFoldedFlops, and all that is computed from them: they are not worked out.
std::unordered_set<graph::NodeId> left_unfolded(const graph::Graph& graph);

// The same, and those whose results are too_large.
std::unordered_set<graph::NodeId> unfoldable(const graph::Graph& graph);

// One blob per output of each constant node that another node or a graph output reads, unless it is unfoldable or
// left_for_size(). A weight is its own blob; everything else is computed on the CPU, f32 arithmetic in double
// precision, rounded once at the end. `first_new`: ids from there on are those of nodes that rewrites made. Throws
// Error where contents are absent, where a result is outside the range of its type, and where a number of a factor or
// divisor becomes denormal or 0 though all weights are normal.
std::unordered_map<graph::NodeId, std::vector<std::shared_ptr<const graph::Blob>>> fold(const graph::Graph& graph,
                                                                                        graph::NodeId first_new = 0);

}  // namespace rlgo::exec

// Which operators on weights alone stay operators, for their results would make a file too large.
#pragma once

#include <unordered_set>

#include "core/graph/graph.h"

namespace rlgo::verify {

// Constant operators that are written as operators although their values could be: with the values of all others the
// file grows by ops::kMostGrowthOfStep at most, compared with the weights that all of them are computed from. What
// rewrites made (ids from `first_new` on, and what is computed from it) may take up to eight times the bytes of its own
// weights beyond that: such a file is written only where it is measured to be faster. `left`: constant nodes that are
// written as operators in any case.
std::unordered_set<graph::NodeId> left_for_size(const graph::Graph& graph,
                                                const std::unordered_set<graph::NodeId>& left, graph::NodeId first_new);

// Constant operators whose results take more than ops::kMostFoldedBytes and more than twice their operands, and what is
// computed from them: their values are not computed.
std::unordered_set<graph::NodeId> too_large(const graph::Graph& graph);

}  // namespace rlgo::verify

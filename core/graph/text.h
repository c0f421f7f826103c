// Text form of graphs.
#pragma once

#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace rlgo::graph {

// One line per node in topological order, numbered from 0:
//   graph "toy"
//   %0 = input "x" : f32[1,3,8,8]
//   %1 = weight "w" seed=7 scale=0.1 shift=0 positive=0 : f32[4,3,3,3]
//   %2 = conv2d(%0, %1) pads=[1,1,1,1] : f32[1,4,8,8]
//   output "y" = %2
// `fixed` stands before an operator that no rewrite may replace: %2 = fixed mul(%0, %1). Output p of a node with
// several is written %n.p. Attributes equal to their defaults are left out.
std::string to_text(const Graph& graph);
// Reads what to_text wrote (also hand-written: the type after ':' may be left out where it is inferred). Weights that
// were held in memory come back as absent blobs. Throws Error with the line number.
Graph from_text(std::string_view text);

}  // namespace rlgo::graph

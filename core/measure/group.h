// A group of operators taken out of its graph: its name in cost tables, and a graph of its own that can be measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::measure {

// What the time of a group depends on: operators, attributes, types, how they are connected, which inputs are constant,
// the values of constants that are one number repeated, and which results are read outside. Not on numbering.
uint64_t group_hash(const graph::Graph& graph, std::span<const graph::NodeId> members);
// The same as a line of text: "conv2d pads=[1,1,1,1] (x0:f32[1,64,56,56], c:f32[64,64,3,3]); relu (%0)!". x0: input,
// c: constant, =6: constant of that value, %0: result of the group's operator 0, !: read outside.
std::string group_signature(const graph::Graph& graph, std::span<const graph::NodeId> members);
// Inputs x0, x1, ..., outputs y0, y1, ..., real shapes, synthetic weights.
graph::Graph group_graph(const graph::Graph& graph, std::span<const graph::NodeId> members);

// The operators of such a graph that cost something, in order.
std::vector<graph::NodeId> members_of_group(const graph::Graph& group);

// A whole multiple of 2^-10 us, as all prices of groups are: sums and differences of them are exact.
double exact_us(double us);

// `group` ready for export. Weights whose contents are absent become zeros. With `pool_context`, another image that is
// added to a convolution comes out of a max pool over single pixels named kContextName: runtimes with a blocked layout
// for images (ONNX Runtime) fuse such an addition only where its operand has that layout too, as it has within a model.
graph::Graph measurable(const graph::Graph& group, bool pool_context);
constexpr const char* kContextName = "rlgo_context";

}  // namespace rlgo::measure

// Which operators a runtime is likely to run as one: the groups that are priced together.
//
// One table serves all runtimes, because a group is measured as a whole: a group that is larger than what a runtime
// fuses is still timed as that runtime runs it, one that is smaller would miss the fusion. It holds what ONNX Runtime
// 1.31 (looked up in its optimised models) and OpenVINO (its post-operations) fuse:
//
//   leader                     takes along, one after the other
//   conv2d, matmul             a chain of followers: scale, bias, batch norm, addition of another tensor, activation
//   elementwise, batch_norm    a chain of followers (GELU, Swish, HardSwish and other activations in any spelling)
//   reduction of last axis     a chain of followers: decomposed layer norm and softmax
//   elementwise                layer_norm behind it (skip connection + norm)
//   conv2d                     the pad in front of its data
//   matmul                     a transpose of the last two axes, or a scalar factor, in front of either operand
//   all others                 nothing: a group of one
//
// Followers are elementwise operators, batch_norm and reductions of the last axis. One follows when it is the only
// reader of its leader's result, or when all readers of that are in the chain that it begins (x * sigmoid(x)), and when
// the shapes agree (the last axis may be broadcast). Free nodes (cost::is_free) belong to no group.
#pragma once

#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::measure {

// The node whose group this one joins, or kNoNode: it heads a group of its own (or is free). Depends on the nodes and
// readers around it alone, not on numbering.
graph::NodeId leader(const graph::Graph& graph, graph::NodeId id);
// Head of the group that a node that is not free belongs to.
graph::NodeId head(const graph::Graph& graph, graph::NodeId id);
// The group of a head, each behind those that it reads. The graph need not have an order (graph::Trial).
std::vector<graph::NodeId> members(const graph::Graph& graph, graph::NodeId head);
// See cost::CostModel::dependents.
std::vector<graph::NodeId> regrouped(const graph::Graph& graph, std::span<const graph::NodeId> changed);

}  // namespace rlgo::measure

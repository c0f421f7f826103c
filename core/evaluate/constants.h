// Values of nodes that depend on weights alone.
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "core/evaluate/kernels.h"

namespace rlgo::evaluate {

// Constant nodes that a non-constant node or a graph output reads, in topological order. Those of `left` count as not
// constant.
std::vector<graph::NodeId> read_constants(const graph::Graph& graph,
                                          const std::unordered_set<graph::NodeId>& left = {});

// The nodes of `wanted` that are not weights, and all that they are computed from, in topological order.
std::vector<graph::NodeId> computation(const graph::Graph& graph, const std::vector<graph::NodeId>& wanted);

// Constants whose numbers are those of weights, moved.
std::unordered_set<graph::NodeId> moved_weights(const graph::Graph& graph);

// Called with each node of computation(), in this order.
using Computed = std::function<void(graph::NodeId id, const Tensors& in, const Tensors& out)>;
// What only moves weights is of their own type, the rest as `precision` holds it. Weights on the way are loaded one by
// one; values are freed after their last use.
void compute_constants(const graph::Graph& graph, const std::vector<graph::NodeId>& wanted, Precision precision,
                       const Run& run, const Computed& computed);

// Of all weights, in double precision.
int64_t wide_bytes(const graph::Graph& graph);
// Floats of 1 MiB and more.
bool is_large(const ops::TensorType& type);

}  // namespace rlgo::evaluate

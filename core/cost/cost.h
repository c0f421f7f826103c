// What a graph costs. Deterministic within a run: the same graph always gets the same number.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::cost {

// Cost parts of an operator or, summed, of a graph.
struct Cost {
  double runtime_us = 0;     // estimated time of one forward pass
  double flops = 0;
  double bytes = 0;          // moved: inputs + outputs
  double peak_bytes = 0;     // graphs: largest sum of live activations over the topological order, plus weights; operators: inputs + outputs
  double launches = 0;       // kernels started
};

// Prices single operators; a graph costs the sum over its non-constant nodes (peak_bytes apart).
class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual std::string name() const = 0;  // "analytic", "measured:cpu", ...
  // Time of one operator in us, >= 0. Depends only on the node's signature (operator, attributes, input types), so
  // answers may be kept by node.info->signature_hash. Zero for constants, leaves, reshape and opaque operators.
  virtual double op_us(const graph::Graph& graph, graph::NodeId id) = 0;
};

// True for what costs nothing in every model: constant nodes, leaves, reshape (a view) and opaque operators (never
// rewritten, so they cannot make a difference).
bool is_free(const graph::Node& node);

// All parts for one node (zero where graph.node(id).constant).
Cost node_cost(CostModel& model, const graph::Graph& graph, graph::NodeId id);
// All parts, peak memory included. O(size).
Cost graph_cost(CostModel& model, const graph::Graph& graph);
// Cost::peak_bytes of a graph. O(size).
double peak_bytes(const graph::Graph& graph);
// runtime_us(after) - runtime_us(before) of an edit, from the delta alone (added, removed, and touched nodes that became or ceased to be constant).
double delta_us(CostModel& model, const graph::Graph& before, const graph::Graph& after, const graph::Delta& delta);

// The text that names an operator in cost tables: "conv2d act=relu pads=[1,1,1,1] ... (f32[1,64,56,56], f32[64,64,3,3])".
std::string signature(const graph::Graph& graph, graph::NodeId id);

}  // namespace rlgo::cost

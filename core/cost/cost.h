// What a graph costs. Deterministic within a run: the same graph always gets the same number.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/small_vector.h"
#include "core/graph/graph.h"

namespace rlgo::cost {

// Cost parts of an operator or, summed, of a graph.
struct Cost {
  double runtime_us = 0;  // estimated time of one forward pass
  double flops = 0;
  double bytes = 0;       // moved: inputs + outputs
  double peak_bytes = 0;  // graphs: largest sum of live activations over the topological order, plus weights;
                          // operators: inputs + outputs
  double launches = 0;    // kernels started
};

// Prices single operators; a graph costs the sum over its non-constant nodes (peak_bytes apart).
class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual std::string name() const = 0;  // "analytic", "measured:cpu", ...
  // Time of one operator in us, >= 0. Where is_local(): depends only on the node's signature (operator, attributes,
  // input types), so answers may be kept by node.info->signature_hash. Zero for constants, leaves, reshape and opaque
  // operators.
  virtual double op_us(const graph::Graph& graph, graph::NodeId id) = 0;
  // False for models that price operators by what surrounds them (groups that a runtime fuses): an answer then holds
  // for this node in this graph only, and an edit changes it for dependents() too.
  virtual bool is_local() const { return true; }
  // The live, non-constant nodes of `graph` whose op_us may depend on one of `changed` (live in it; as in Delta::added
  // and touched), those included, each once. Called where !is_local().
  virtual std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                                std::span<const graph::NodeId> changed) const;

  // Models that measure on demand can gather what they do not know and measure it in one go. After defer(), an
  // unknown price is answered by an estimate that holds until flush(), which measures what was asked for. False:
  // nothing to defer, or a caller further up does so already and will flush.
  virtual bool defer() { return false; }
  // How many answers since defer() were estimates.
  virtual size_t deferred() const { return 0; }
  // Measures what was estimated. False where it had to stop before all of it was.
  virtual bool flush() { return true; }
  // Ends deferring without measuring: what was estimated stays unknown.
  virtual void forget_deferred() {}
};

// True for what costs nothing in every model: constant nodes, leaves, reshape (a view) and opaque operators (never
// rewritten, so they cannot make a difference).
bool is_free(const graph::Node& node);
// How many nodes cost something.
int64_t priced_operators(const graph::Graph& graph);

// All parts for one node (zero where graph.node(id).constant).
Cost node_cost(CostModel& model, const graph::Graph& graph, graph::NodeId id);
// All parts, peak memory included. O(size).
Cost graph_cost(CostModel& model, const graph::Graph& graph);
// Cost::peak_bytes of a graph. O(size).
double peak_bytes(const graph::Graph& graph);
// The same, faster, for callers that keep sizes: bytes of the outputs of each live node, by node id.
using OutputBytes = SmallVector<double, 1>;
OutputBytes output_bytes(const graph::Node& node);
double peak_bytes(const graph::Graph& graph, std::span<const OutputBytes> sizes);
// runtime_us(after) - runtime_us(before) of an edit, from the delta alone (added, removed, and touched nodes that
// became or ceased to be constant).
double delta_us(CostModel& model, const graph::Graph& before, const graph::Graph& after, const graph::Delta& delta);

// The text that names an operator in cost tables: "conv2d act=relu pads=[1,1,1,1] ... (f32[1,64,56,56],
// f32[64,64,3,3])".
std::string signature(const graph::Graph& graph, graph::NodeId id);

}  // namespace rlgo::cost

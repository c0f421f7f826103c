#include "core/evaluate/constants.h"

#include <algorithm>
#include <unordered_map>

#include "core/ops/moves.h"

namespace rlgo::evaluate {

using graph::Graph;
using graph::NodeId;
using ops::Op;

std::vector<NodeId> read_constants(const Graph& graph, const std::unordered_set<NodeId>& left) {
  const auto is_read = [&](NodeId id) {
    return graph.is_output(id) || std::ranges::any_of(graph.node(id).uses, [&](const graph::Use& use) {
             return !graph.node(use.user).constant || left.contains(use.user);
           });
  };
  std::vector<NodeId> result;
  for (const NodeId id : graph.order()) {
    if (graph.node(id).constant && !left.contains(id) && is_read(id)) result.push_back(id);
  }
  return result;
}

std::vector<NodeId> computation(const Graph& graph, const std::vector<NodeId>& wanted) {
  std::vector<bool> needed(static_cast<size_t>(graph.id_bound()), false);
  for (const NodeId id : wanted) needed[id] = graph.node(id).op() != Op::weight;
  std::vector<NodeId> nodes;
  const auto order = graph.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!needed[*it]) continue;
    nodes.push_back(*it);
    for (const auto& input : graph.node(*it).inputs) needed[input.node] = true;
  }
  std::ranges::reverse(nodes);
  return nodes;
}

std::unordered_set<NodeId> moved_weights(const Graph& graph) {
  std::unordered_set<NodeId> moved;
  for (const NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    const bool moves = ops::moves_only(node.op()) && node.op() != Op::pad &&  // its value is a number of its own
                       std::ranges::all_of(node.inputs, [&](const auto& input) { return moved.contains(input.node); });
    if (node.op() == Op::weight || (node.constant && moves)) moved.insert(id);
  }
  return moved;
}

void compute_constants(const Graph& graph, const std::vector<NodeId>& wanted, Precision precision, const Run& run,
                       const Computed& computed) {
  const auto nodes = computation(graph, wanted);
  const auto moved = moved_weights(graph);
  std::unordered_map<NodeId, NodeId> last_reader;
  for (const NodeId id : nodes) {
    for (const auto& input : graph.node(id).inputs) last_reader[input.node] = id;
  }
  std::unordered_map<NodeId, Tensors> values;
  for (const NodeId id : nodes) {
    run.deadline.check();
    const auto& node = graph.node(id);
    const auto own = moved.contains(id) ? Precision::native : precision;
    Tensors in;
    for (const auto& input : node.inputs)
      in.push_back(cast(values.at(input.node)[input.port], held(graph.type(input).dtype, own), run));
    Tensors out = run_kernel({.in = in, .info = *node.info, .precision = own, .run = run});
    computed(id, in, out);
    for (const auto& input : node.inputs) {
      if (last_reader.at(input.node) == id) values.erase(input.node);
    }
    if (last_reader.contains(id)) values[id] = std::move(out);
  }
}

int64_t wide_bytes(const graph::Graph& graph) {
  int64_t sum = 0;
  for (const graph::NodeId id : graph.order()) {
    const auto& info = *graph.node(id).info;
    if (info.op == ops::Op::weight && ops::is_float(info.outputs[0].dtype)) sum += info.outputs[0].elements() * 8;
  }
  return sum;
}

bool is_large(const ops::TensorType& type) {
  constexpr int64_t kLargeBytes = int64_t{1} << 20;
  return ops::is_float(type.dtype) && type.bytes() >= kLargeBytes;
}

}  // namespace rlgo::evaluate

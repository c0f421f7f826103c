#include "core/cost/cost.h"

#include <algorithm>

#include "core/base/error.h"

namespace rlgo::cost {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Value;
using ops::Op;

double bytes_of(const ops::TensorType& type) { return type.is_static() ? static_cast<double>(type.bytes()) : 0.0; }

// Buffers of the activations over one pass: a buffer lives from the node that writes it to the last node that reads it,
// inputs and outputs of the graph all the time. A reshape shows its input's buffer.
class PeakMemory {
 public:
  explicit PeakMemory(const Graph& graph) : graph_(graph), first_buffer_(static_cast<size_t>(graph.id_bound()), 0) {
    buffers_.reserve(graph.size() + graph.size() / 4);
    for (const NodeId id : graph.order()) place_node(id);
    for (const graph::GraphOutput& out : graph.outputs()) {
      Buffer& buffer = buffer_of(out.value);
      buffer.last_step = std::max(buffer.last_step, steps());
    }
  }

  double bytes() const {
    // Change of the live sum at each step.
    std::vector<double> change(static_cast<size_t>(steps()) + 2, 0.0);
    double folded = 0;
    for (const Buffer& buffer : buffers_) {
      if (buffer.alias_of >= 0) continue;
      if (buffer.constant) {
        if (buffer.last_step >= 0) folded += buffer.bytes;  // read by a node that runs: a weight of the folded graph
        continue;
      }
      change[static_cast<size_t>(buffer.first_step)] += buffer.bytes;
      change[static_cast<size_t>(std::max(buffer.first_step, buffer.last_step)) + 1] -= buffer.bytes;
    }
    double live = 0, peak = 0;
    for (const double c : change) {
      live += c;
      peak = std::max(peak, live);
    }
    return peak + folded;
  }

 private:
  struct Buffer {
    double bytes = 0;
    int32_t first_step = 0;
    int32_t last_step = -1;
    int32_t alias_of = -1;  // another buffer
    bool constant = false;
  };

  int32_t steps() const { return static_cast<int32_t>(graph_.size()); }
  size_t index_of(Value value) const { return first_buffer_[value.node] + static_cast<size_t>(value.port); }

  Buffer& buffer_of(Value value) {
    Buffer* buffer = &buffers_[index_of(value)];
    while (buffer->alias_of >= 0) buffer = &buffers_[static_cast<size_t>(buffer->alias_of)];
    return *buffer;
  }

  void place_node(NodeId id) {
    const Node& node = graph_.node(id);
    const int32_t step = graph_.position(id);
    first_buffer_[id] = buffers_.size();
    for (const auto& type : node.info->outputs) buffers_.push_back({bytes_of(type), step, -1, -1, node.constant});
    Buffer* own = buffers_.data() + first_buffer_[id];
    if (node.op() == Op::input) {
      own[0].first_step = 0;
      own[0].last_step = steps();
    }
    // A constant reshape is folded to a weight of its own.
    if (node.op() == Op::reshape && !node.constant) own[0].alias_of = static_cast<int32_t>(index_of(node.inputs[0]));
    if (node.constant) return;
    for (const Value& in : node.inputs) {
      Buffer& buffer = buffer_of(in);
      buffer.last_step = std::max(buffer.last_step, step);
    }
  }

  const Graph& graph_;
  std::vector<size_t> first_buffer_;  // by node
  std::vector<Buffer> buffers_;       // of live nodes, in topological order
};

// Sum of the prices of `changed` and of all whose price depends on them.
double affected_us(CostModel& model, const Graph& graph, std::vector<NodeId> changed, const std::vector<NodeId>& touched) {
  changed.insert(changed.end(), touched.begin(), touched.end());
  double sum = 0;
  for (const NodeId id : model.dependents(graph, changed)) sum += node_cost(model, graph, id).runtime_us;
  return sum;
}

// A node outside both sets of dependents has the same surroundings in both graphs, hence the same price.
double surroundings_delta_us(CostModel& model, const Graph& before, const Graph& after, const graph::Delta& delta) {
  return affected_us(model, after, delta.added, delta.touched) - affected_us(model, before, delta.removed, delta.touched);
}

}  // namespace

bool is_free(const Node& node) {
  if (node.constant) return true;
  switch (node.op()) {
    case Op::input:
    case Op::weight:
    case Op::fill:
    case Op::reshape:
    case Op::opaque:
      return true;
    default:
      return false;
  }
}

Cost node_cost(CostModel& model, const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (is_free(node)) return {};
  Cost cost;
  cost.runtime_us = model.op_us(graph, id);
  cost.flops = node.info->work.flops;
  cost.bytes = node.info->work.bytes;
  for (const Value& in : node.inputs) cost.peak_bytes += bytes_of(graph.type(in));
  for (const auto& out : node.info->outputs) cost.peak_bytes += bytes_of(out);
  cost.launches = 1;
  return cost;
}

Cost graph_cost(CostModel& model, const Graph& graph) {
  Cost sum;
  for (const NodeId id : graph.order()) {
    const Cost cost = node_cost(model, graph, id);
    sum.runtime_us += cost.runtime_us;
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
    sum.launches += cost.launches;
  }
  sum.peak_bytes = peak_bytes(graph);
  return sum;
}

double peak_bytes(const Graph& graph) { return PeakMemory(graph).bytes(); }

std::vector<NodeId> CostModel::dependents(const Graph& graph, std::span<const NodeId> changed) const {
  std::vector<NodeId> out;
  for (const NodeId id : changed) {
    if (!graph.node(id).constant) out.push_back(id);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

double delta_us(CostModel& model, const Graph& before, const Graph& after, const graph::Delta& delta) {
  if (!model.is_local()) return surroundings_delta_us(model, before, after, delta);
  double change = 0;
  for (const NodeId id : delta.added) change += node_cost(model, after, id).runtime_us;
  for (const NodeId id : delta.removed) change -= node_cost(model, before, id).runtime_us;
  for (const NodeId id : delta.touched) {
    if (before.node(id).constant == after.node(id).constant) continue;
    change += node_cost(model, after, id).runtime_us - node_cost(model, before, id).runtime_us;
  }
  return change;
}

std::string signature(const Graph& graph, NodeId id) {
  const graph::NodeInfo& info = *graph.node(id).info;
  std::string text(ops::name(info.op));
  if (!info.attrs.items().empty()) text += ' ' + ops::to_string(info.attrs);
  text += " (";
  bool first = true;
  for (const auto& type : graph.input_types(id)) {
    if (!first) text += ", ";
    text += ops::to_string(type);
    first = false;
  }
  return text + ')';
}

}  // namespace rlgo::cost

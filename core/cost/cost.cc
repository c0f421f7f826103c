#include "core/cost/cost.h"

#include <algorithm>
#include <set>

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
// inputs and outputs of the graph all the time. A reshape shows its input's buffer; a constant one is folded to a
// weight of its own. Gone through from the last node to the first, so that what a reshape's readers need is known at
// its input.
class PeakMemory {
 public:
  PeakMemory(const Graph& graph, std::span<const OutputBytes> sizes)
      : graph_(graph),
        sizes_(sizes),
        steps_(static_cast<int32_t>(graph.size())),
        shown_(graph.size(), -1),
        change_(graph.size() + 2, 0.0) {
    for (const graph::GraphOutput& out : graph.outputs()) outputs_.insert(out.value);
    const auto order = graph.order();
    for (int32_t step = steps_ - 1; step >= 0; --step) place_node(order[static_cast<size_t>(step)], step);
  }

  double bytes() const {
    double live = 0, peak = 0;
    for (const double c : change_) {
      live += c;
      peak = std::max(peak, live);
    }
    return peak + folded_;
  }

 private:
  static bool shows_input(const Node& node) { return node.op() == Op::reshape && !node.constant; }

  void place_node(NodeId id, int32_t step) {
    const Node& node = graph_.node(id);
    const OutputBytes& sizes = sizes_[static_cast<size_t>(id)];
    const auto last_steps = this->last_steps(id, node, sizes.size());
    for (size_t port = 0; port < sizes.size(); ++port) {
      const int32_t last = last_steps[port];
      if (shows_input(node)) {
        shown_[static_cast<size_t>(step)] = last;
      } else if (node.constant) {
        if (last >= 0) folded_ += sizes[port];  // read by a node that runs: a weight of the folded graph
      } else {
        const bool input = node.op() == Op::input;
        change_[input ? 0 : static_cast<size_t>(step)] += sizes[port];
        change_[static_cast<size_t>(input ? steps_ : std::max(step, last)) + 1] -= sizes[port];
      }
    }
  }

  // By port: of the readers that run, -1 where there is none.
  std::vector<int32_t> last_steps(NodeId id, const Node& node, size_t ports) const {
    std::vector<int32_t> last(ports, -1);
    for (const graph::Use& use : node.uses) {
      const Node& user = graph_.node(use.user);
      if (user.constant) continue;
      const int32_t at = graph_.position(use.user);
      int32_t& of_port = last[static_cast<size_t>(use.port)];
      of_port = std::max({of_port, at, shows_input(user) ? shown_[static_cast<size_t>(at)] : -1});
    }
    for (size_t port = 0; port < ports; ++port) {
      if (outputs_.contains({id, static_cast<int32_t>(port)})) last[port] = steps_;
    }
    return last;
  }

  const Graph& graph_;
  const std::span<const OutputBytes> sizes_;
  const int32_t steps_;
  std::vector<int32_t> shown_;  // by position, of reshapes: last reader
  std::set<Value> outputs_;     // of the graph
  std::vector<double> change_;  // of the live sum at each step
  double folded_ = 0;
};

// Sum of the prices of `changed` and of all whose price depends on them.
double affected_us(CostModel& model, const Graph& graph, std::vector<NodeId> changed,
                   const std::vector<NodeId>& touched) {
  changed.insert(changed.end(), touched.begin(), touched.end());
  double sum = 0;
  for (const NodeId id : model.dependents(graph, changed)) sum += node_cost(model, graph, id).runtime_us;
  return sum;
}

// A node outside both sets of dependents has the same surroundings in both graphs, hence the same price.
double surroundings_delta_us(CostModel& model, const Graph& before, const Graph& after, const graph::Delta& delta) {
  return affected_us(model, after, delta.added, delta.touched) -
         affected_us(model, before, delta.removed, delta.touched);
}

}  // namespace

bool is_free(const Node& node) {
  if (node.constant) return true;
  switch (node.op()) {
    case Op::input:
    case Op::weight:
    case Op::fill:
    case Op::literal:
    case Op::reshape:
    case Op::opaque:
      return true;
    default:
      return false;
  }
}

int64_t priced_operators(const graph::Graph& graph) {
  return std::ranges::count_if(graph.order(), [&](graph::NodeId id) { return !is_free(graph.node(id)); });
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

OutputBytes output_bytes(const Node& node) {
  OutputBytes sizes;
  for (const auto& type : node.info->outputs) sizes.push_back(bytes_of(type));
  return sizes;
}

double peak_bytes(const Graph& graph, std::span<const OutputBytes> sizes) { return PeakMemory(graph, sizes).bytes(); }

double peak_bytes(const Graph& graph) {
  std::vector<OutputBytes> sizes(static_cast<size_t>(graph.id_bound()));
  for (const NodeId id : graph.order()) sizes[static_cast<size_t>(id)] = output_bytes(graph.node(id));
  return peak_bytes(graph, sizes);
}

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

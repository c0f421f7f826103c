#include "core/measure/group_features.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/measure/numbered.h"

namespace rlgo::measure {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using ops::Attr;
using ops::Op;

constexpr size_t kExtents = 4;
constexpr double kLeastUs = 1e-3;

double log_of(double size) { return std::log1p(std::max(0.0, size)); }
double log_us(double us) { return std::log(std::max(us, kLeastUs)); }

class Describer {
 public:
  Describer(const Graph& graph, std::span<const NodeId> members, cost::AnalyticCost& formula)
      : graph_(graph), members_(members), formula_(formula) {
    for (const NodeId id : members) numbered_.add(id);
  }

  GroupFeatures features() {
    NodeId head = graph::kNoNode;
    double price = 0, head_price = 0;
    for (const NodeId id : members_) {
      const Node& node = graph_.node(id);
      if (node.constant || cost::is_free(node)) continue;
      const double us = formula_.op_us(graph_, id);
      price += us;
      if (head == graph::kNoNode || us > head_price) head = id, head_price = us;
      at("count:", node) += 1;
      at("share:", node) += us;
      add_work(id);
      if (ops::spec(node.op()).elementwise) add_repeated(node);
    }
    for (auto& [name, x] : out_)
      if (name.starts_with("share:")) x /= price;
    for (const char* name : {"flops", "bytes", "read", "constants", "written"}) out_[name] = log_of(out_[name]);
    out_["price"] = log_us(price);
    out_["head_price"] = log_us(head_price);
    out_["members"] = static_cast<double>(members_.size());
    describe(head);
    return {out_.begin(), out_.end()};
  }

 private:
  double& at(const char* prefix, const Node& node) { return out_[prefix + std::string(ops::name(node.op()))]; }
  bool is_member(NodeId id) const { return numbered_.contains(id); }
  bool is_read_outside(NodeId id) const {
    const auto& uses = graph_.node(id).uses;
    if (uses.empty() || std::ranges::any_of(uses, [&](const auto& use) { return !is_member(use.user); })) return true;
    return std::ranges::any_of(graph_.outputs(), [&](const auto& out) { return out.value.node == id; });
  }

  void add_work(NodeId id) {
    const Node& node = graph_.node(id);
    out_["flops"] += node.info->work.flops;
    out_["bytes"] += node.info->work.bytes;
    for (const auto& in : node.inputs) {
      if (is_member(in.node)) continue;
      out_[graph_.node(in.node).constant ? "constants" : "read"] += static_cast<double>(graph_.type(in).bytes());
    }
    if (!is_read_outside(id)) return;
    for (const auto& type : node.info->outputs) out_["written"] += static_cast<double>(type.bytes());
  }

  void add_repeated(const Node& node) {
    const auto& result = node.info->outputs[0];
    for (const auto& in : node.inputs) {
      const auto& type = graph_.type(in);
      if (type.elements() == result.elements()) continue;
      const bool whole_rows = type.rank() > 0 && type.shape.back() == result.shape.back();
      out_[type.elements() == 1 ? "scalars" : whole_rows ? "rows" : "inner"] += 1;
    }
  }

  void add_extents(const std::string& name, const ops::TensorType& type) {
    for (size_t k = 0; k < kExtents; ++k) {
      const size_t rank = type.shape.size();
      out_[name + std::to_string(k)] = log_of(k < rank ? static_cast<double>(type.shape[rank - 1 - k]) : 1.0);
    }
  }

  void describe(NodeId head) {
    const Node& node = graph_.node(head);
    const auto& result = node.info->outputs[0];
    at("head:", node) = 1;
    out_["float32"] = result.dtype == ops::DType::f32 ? 1 : 0;
    out_["rank"] = static_cast<double>(result.shape.size());
    out_["elements"] = log_of(static_cast<double>(result.elements()));
    out_["inputs"] = static_cast<double>(node.inputs.size());
    add_extents("out", result);
    add_extents("in", graph_.type(node.inputs[0]));
    if (node.inputs.size() > 1) add_extents("second", graph_.type(node.inputs[1]));
    if (node.op() == Op::conv2d) {
      const auto group = node.attrs().i(Attr::group);
      out_["groups"] = log_of(static_cast<double>(group));
      out_["depthwise"] = group > 1 && graph_.type(node.inputs[1]).shape[1] == 1 ? 1 : 0;
      out_["stride"] = static_cast<double>(node.attrs().ints(Attr::strides)[0]);
      out_["dilation"] = static_cast<double>(node.attrs().ints(Attr::dilations)[0]);
    }
    if (node.op() == Op::matmul) out_["shared"] = graph_.type(node.inputs[1]).rank() == 2 ? 1 : 0;
    if (node.op() == Op::conv2d || node.op() == Op::matmul)
      out_["efficiency"] = std::log(formula_.arithmetic_efficiency(graph_, head));
    describe_axes(node);
  }

  void describe_axes(const Node& node) {
    const auto last = static_cast<int64_t>(graph_.type(node.inputs[0]).shape.size()) - 1;
    const auto ints = [&](Attr key) -> const ops::Ints* {
      const auto* value = node.attrs().find(key);
      const auto* list = value == nullptr ? nullptr : std::get_if<ops::Ints>(value);
      return list == nullptr || list->empty() ? nullptr : list;
    };
    if (const auto* axes = ints(Attr::axes)) {
      out_["last_axis"] = axes->back() == last ? 1 : 0;
      out_["axes"] = static_cast<double>(axes->size());
    }
    if (const auto* axis = node.attrs().find(Attr::axis); axis != nullptr && std::holds_alternative<int64_t>(*axis)) {
      out_["last_axis"] = std::get<int64_t>(*axis) == last ? 1 : 0;
      out_["axis"] = static_cast<double>(std::get<int64_t>(*axis));
    }
    if (const auto* perm = ints(Attr::perm)) out_["last_axis"] = perm->back() == last ? 1 : 0;
  }

  const Graph& graph_;
  std::span<const NodeId> members_;
  Numbered<NodeId> numbered_;  // the same
  cost::AnalyticCost& formula_;
  std::map<std::string, double> out_;
};

}  // namespace

GroupFeatures group_features(const Graph& graph, std::span<const NodeId> members, cost::AnalyticCost& formula) {
  return Describer(graph, members, formula).features();
}

}  // namespace rlgo::measure

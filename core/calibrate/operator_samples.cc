#include "core/calibrate/operator_samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "core/base/rng.h"
#include "core/calibrate/operator_draws.h"
#include "core/cost/analytic.h"
#include "core/measure/group.h"
#include "core/ops/moves.h"
#include "core/ops/windows.h"
#include "core/zoo/zoo.h"

namespace rlgo::calibrate {
namespace {

using graph::Graph;
using graph::NodeId;
using ops::Op;

constexpr double kMostUs = 20'000;

std::string conv_kind(const Graph& graph, NodeId id) {
  const auto& w = graph.type(graph.node(id).inputs[1]).shape;  // [O, C/group, kh, kw]
  const bool grouped = graph.node(id).attrs().i(ops::Attr::group) > 1;
  if (grouped) return w[1] == 1 ? "conv_depthwise" : "conv_grouped";
  if (ops::window_elements(w) == 1) return "conv_1x1";
  return w.size() == 4 && w[2] == 3 && w[3] == 3 ? "conv_3x3" : "conv_other";
}

// The models, and smaller forms of some of them.
std::vector<Graph> zoo_graphs() {
  std::vector<Graph> out;
  for (const auto& name : zoo::names()) {
    if (!name.starts_with("toy_")) out.push_back(zoo::make(name));
  }
  for (const char* name : {"resnet50", "squeezenet1_1", "resnext50"}) out.push_back(zoo::make(name, {.image = 128}));
  for (const char* name : {"bert", "gpt2"}) out.push_back(zoo::make(name, {.layers = 1, .sequence = 32}));
  return out;
}

// Keeps each operator once.
class Collection {
 public:
  void add(const Graph& graph, NodeId id) {
    const auto& node = graph.node(id);
    if (node.constant || cost::is_free(node) || prices_.op_us(graph, id) > kMostUs) return;
    if (!seen_.insert(measure::group_signature(graph, {&id, 1})).second) return;
    Graph alone = measure::group_graph(graph, {&id, 1});
    const NodeId there = alone.outputs()[0].value.node;
    kinds_[operator_kind(graph, id)].push_back({std::move(alone), there});
  }
  std::vector<OperatorKind> finish(uint64_t seed) {
    std::vector<OperatorKind> out;
    for (auto& [name, samples] : kinds_) {
      Rng rng({seed, hash_string(name)});
      for (size_t k = samples.size(); k > 1; --k) std::swap(samples[k - 1], samples[rng.below(k)]);
      out.push_back({name, std::move(samples)});
    }
    return out;
  }

 private:
  cost::AnalyticCost prices_;
  std::unordered_set<std::string> seen_;
  std::map<std::string, std::vector<OperatorSample>> kinds_;
};

}  // namespace

std::string operator_kind(const Graph& graph, NodeId id) {
  switch (const Op op = graph.node(id).op()) {
    case Op::conv2d:
      return conv_kind(graph, id);
    case Op::max_pool:
    case Op::avg_pool:
    case Op::global_avg_pool:
      return "pool";
    case Op::matmul:
    case Op::conv_transpose:
    case Op::softmax:
    case Op::layer_norm:
    case Op::transpose:
    case Op::gather:
    case Op::slice:
    case Op::pad:
    case Op::concat:
    case Op::split:
      return std::string(ops::name(op));
    default:
      return ops::is_reduction(op) ? "reduce" : "elementwise";
  }
}

std::vector<OperatorKind> operator_samples(int drawn, uint64_t seed) {
  Collection all;
  for (const Graph& graph : zoo_graphs()) {
    for (const NodeId id : graph.order()) all.add(graph, id);
  }
  Rng rng({seed, 0x0B5});
  for (const auto& draw : operator_draws()) {
    for (int k = 0; k < drawn; ++k) {
      const Graph graph = draw(rng);
      all.add(graph, graph.outputs()[0].value.node);
    }
  }
  return all.finish(seed);
}

const cost::Measured* find_time(const cost::TableCost& table, const Graph& graph, NodeId id) {
  const auto* group = table.find(measure::group_signature(graph, {&id, 1}));
  return group != nullptr ? group : table.find(cost::signature(graph, id));
}

}  // namespace rlgo::calibrate

#include "core/optimise/learned_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/measure/group.h"
#include "core/measure/partition.h"

namespace rlgo::optimise {
namespace {

using graph::Graph;
using graph::NodeId;

constexpr double kEachUs = 5, kBytesPerUs = 1e4, kFlopsPerUs = 1e5;
constexpr double kLeastFraction = 0.05;  // of its price that a corrected price keeps

// The nodes that a price stands for.
std::vector<NodeId> group_of(const Graph& graph, NodeId head, bool alone) {
  return alone ? std::vector<NodeId>{head} : measure::members(graph, head);
}

std::string kind_of(const Graph& graph, NodeId head) { return std::string(ops::name(graph.node(head).op())); }

}  // namespace

GraphFeatures::GraphFeatures(const Graph& unmodified, cost::CostModel& prices) : prices_(prices) {
  const bool gathers = prices.defer();
  const double us = cost::graph_cost(prices, unmodified).runtime_us;
  if (gathers) prices.forget_deferred();
  unmodified_us_ = us > 0 ? us : 1;
  unmodified_ = of_graph(unmodified);
}

uint64_t GraphFeatures::signature(const Graph& graph, NodeId head) const {
  if (prices_.is_local()) return graph.node(head).info->signature_hash;
  return measure::group_hash(graph, measure::members(graph, head));
}

cost::Features GraphFeatures::of_group(const Graph& graph, NodeId head, double group_us) const {
  cost::Features out;
  if (group_us <= 0) return out;
  const auto members = group_of(graph, head, prices_.is_local());
  ops::Work work;
  for (const NodeId id : members) {
    work.flops += graph.node(id).info->work.flops;
    work.bytes += graph.node(id).info->work.bytes;
  }
  out["price:" + kind_of(graph, head) + (members.size() > 1 ? "+" : "")] = group_us / unmodified_us_;
  out["#" + hex(signature(graph, head))] = group_us / unmodified_us_;
  out["groups"] = kEachUs / unmodified_us_;
  out["bytes"] = work.bytes / kBytesPerUs / unmodified_us_;
  out["flops"] = work.flops / kFlopsPerUs / unmodified_us_;
  return out;
}

cost::Features GraphFeatures::of_graph(const Graph& graph) const {
  cost::Features out;
  const bool gathers = prices_.defer();  // nothing is timed for it
  const bool alone = prices_.is_local();
  for (const NodeId id : graph.order()) {
    if (cost::is_free(graph.node(id)) || graph.node(id).constant) continue;
    for (const auto& [name, x] : of_group(graph, id, prices_.op_us(graph, id))) out[name] += x;
    const NodeId to = alone ? id : measure::head(graph, id);
    for (const graph::Value& in : graph.node(id).inputs) {
      const graph::Node& before = graph.node(in.node);
      if (before.constant || cost::is_free(before)) continue;
      const NodeId from = alone ? in.node : measure::head(graph, in.node);
      if (from != to) out["border:" + kind_of(graph, from) + ">" + kind_of(graph, to)] += kEachUs / unmodified_us_;
    }
  }
  if (gathers) prices_.forget_deferred();
  return out;
}

cost::Features GraphFeatures::operator()(const Graph& graph, const rules::Trace& trace,
                                         const rules::RuleSet& rules) const {
  cost::Features out = of_graph(graph);
  for (const auto& [name, x] : unmodified_) out[name] -= x;
  for (const auto& step : trace) out["rule:" + rules.name(step.rule)] += kEachUs / unmodified_us_;
  std::erase_if(out, [](const auto& entry) { return std::abs(entry.second) < 1e-9; });
  return out;
}

double LearnedCost::op_us(const Graph& graph, NodeId id) {
  const double group_us = prices_.op_us(graph, id);
  if (group_us <= 0) return group_us;
  const uint64_t key = hash_combine(features_.signature(graph, id), std::bit_cast<uint64_t>(group_us));
  const auto [known, is_new] = us_.try_emplace(key, group_us);
  if (!is_new) return known->second;
  for (const auto& [name, x] : features_.of_group(graph, id, group_us))
    known->second += weights_(name) * x * features_.unmodified_us();
  return known->second = measure::exact_us(std::max(known->second, kLeastFraction * group_us));
}

}  // namespace rlgo::optimise

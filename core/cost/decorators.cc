#include "core/cost/decorators.h"

#include <cmath>

#include "core/base/error.h"

namespace rlgo::cost {

double CachedCost::op_us(const graph::Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph.node(id);
  if (is_free(node)) return 0;  // whether a node is constant is not part of its signature
  if (!inner_->is_local()) return inner_->op_us(graph, id);
  const uint64_t hash = node.info->signature_hash;
  if (const auto known = us_.find(hash); known != us_.end()) return known->second;
  const double us = inner_->op_us(graph, id);
  us_.emplace(hash, us);
  return us;
}

double CheckedCost::op_us(const graph::Graph& graph, graph::NodeId id) {
  const double us = inner_->op_us(graph, id);
  const auto broken = [&](const std::string& what) {
    fail("cost model '{}': {} for {}", name(), what, signature(graph, id));
  };
  if (!std::isfinite(us) || us < 0) broken(fmt::format("{} us", us));
  if (is_free(graph.node(id))) {
    if (us != 0) broken(fmt::format("{} us instead of 0", us));
    return 0;
  }
  if (!inner_->is_local()) return us;
  const double first = us_.emplace(graph.node(id).info->signature_hash, us).first->second;
  if (first != us) broken(fmt::format("{} us after {} us", us, first));
  return us;
}

}  // namespace rlgo::cost

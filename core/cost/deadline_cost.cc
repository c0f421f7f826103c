#include "core/cost/deadline_cost.h"

#include <algorithm>

#include "core/base/deadline.h"

namespace rlgo::cost {

double DeadlineCost::op_us(const graph::Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph.node(id);
  if (is_free(node)) return 0;
  const uint64_t hash = node.info->signature_hash;
  if (const auto known = us_by_hash_.find(hash); known != us_by_hash_.end()) return known->second;
  const bool known = table_->find(signature(graph, id)) != nullptr;
  const double us =
      known || !may_measure_ || may_measure_() ? measured_or_estimated_us(graph, id) : estimate_us(graph, id);
  us_by_hash_.emplace(hash, us);
  return us;
}

double DeadlineCost::measured_or_estimated_us(const graph::Graph& graph, graph::NodeId id) {
  try {
    return measured_us(graph, id);
  } catch (const Stopped&) {  // time was over before it had its samples
    return estimate_us(graph, id);
  }
}

double DeadlineCost::measured_us(const graph::Graph& graph, graph::NodeId id) {
  const double us = table_->op_us(graph, id), analytic_us = analytic_.op_us(graph, id);
  if (analytic_us > 0) ratios_.push_back(us / analytic_us);
  return us;
}

double DeadlineCost::estimate_us(const graph::Graph& graph, graph::NodeId id) {
  ++estimated_;
  const double analytic_us = analytic_.op_us(graph, id);
  if (ratios_.empty()) return analytic_us;
  std::vector<double> sorted = ratios_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return analytic_us * *middle;
}

}  // namespace rlgo::cost

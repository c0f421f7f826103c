#include "learner/session/best.h"

#include <limits>

#include "core/base/error.h"

namespace rlgo::learner {

double BestGraph::score(const mdp::StepInfo& info) const {
  if (!by_latency_) return info.cost_us;
  const bool timed = info.timing == mdp::WholeTimed::shown || info.timing == mdp::WholeTimed::within_noise;
  return timed ? info.measured_ratio + info.measured_error : std::numeric_limits<double>::infinity();
}

bool BestGraph::offer(const mdp::Trajectory& trajectory, int no_op) {
  size_t length = 0;
  double best = by_latency_ ? latency_bound_ : best_us_;
  for (size_t i = 0; i < trajectory.steps.size(); ++i) {
    if (trajectory.steps[i].action.rule == no_op || score(trajectory.steps[i].info) >= best) continue;
    best = score(trajectory.steps[i].info);
    length = i + 1;
  }
  if (length == 0) return false;
  if (by_latency_) latency_bound_ = best;
  rules::Trace rewrites;
  for (const mdp::Action& action : trajectory.beginning.rewrites) rewrites.push_back({action.rule, action.location});
  std::vector<double> costs = trajectory.beginning.cost_us;
  for (size_t i = 0; i < length; ++i) {
    rewrites.push_back({trajectory.steps[i].action.rule, trajectory.steps[i].info.location});
    costs.push_back(trajectory.steps[i].info.cost_us);
  }
  replace(std::move(rewrites), std::move(costs));
  return true;
}

void BestGraph::replace(rules::Trace rewrites, std::vector<double> cost_us) {
  RLGO_CHECK_EQ(rewrites.size(), cost_us.size());
  best_us_ = cost_us.empty() ? initial_us_ : cost_us.back();
  trace_.rewrites = std::move(rewrites);
  trace_.cost_us = std::move(cost_us);
}

void BestGraph::adopt(const rules::TraceFile& stored) {
  if (stored.graph_hash != trace_.graph_hash)
    fail("best.trace belongs to another graph ({}) than this run's ({})", stored.graph, trace_.graph);
  if (stored.rules_hash != trace_.rules_hash)
    fail("best.trace was made with other rules than this run's; use the rule files of that run");
  replace(stored.rewrites, stored.cost_us);
}

}  // namespace rlgo::learner

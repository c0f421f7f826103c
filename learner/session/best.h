// The best graph that a run has met, as the trace that makes it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/mdp/mdp.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"

namespace rlgo::learner {

class BestGraph {
 public:
  // `identity`: graph name and hashes that best.trace carries.
  // `by_latency`: the best is the fastest as far as timings show (latency_bound()), else the cheapest.
  BestGraph(rules::TraceFile identity, double initial_us, bool by_latency = false)
      : trace_(std::move(identity)), by_latency_(by_latency), initial_us_(initial_us), best_us_(initial_us) {}
  // Keeps the episode's best graph where it is better than all before; true then. Its rewrites are those that the
  // episode began with, and its own. By latency only graphs count that were timed.
  bool offer(const mdp::Trajectory& trajectory, int no_op);
  // Goes on from a stored trace (resume). Throws Error where it belongs to another graph or other rules.
  void adopt(const rules::TraceFile& trace);
  void replace(rules::Trace rewrites, std::vector<double> cost_us);
  // The cost of the unmodified graph at other prices; replace() with costs at these follows.
  void reprice(double initial_us) { initial_us_ = initial_us; }

  double initial_us() const { return initial_us_; }
  double best_us() const { return best_us_; }
  const rules::TraceFile& trace() const { return trace_; }
  bool by_latency() const { return by_latency_; }
  // The upper end of the interval of the best graph's latency, as a ratio to the unmodified graph's; 1 while none is
  // shown to be faster than that.
  double latency_bound() const { return latency_bound_; }
  void set_latency_bound(double ratio) { latency_bound_ = ratio; }

 private:
  // What is compared: the lower the better.
  double score(const mdp::StepInfo& info) const;

  rules::TraceFile trace_;
  bool by_latency_;
  double latency_bound_ = 1;
  double initial_us_;
  double best_us_;
};

}  // namespace rlgo::learner

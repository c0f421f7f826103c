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
  BestGraph(rules::TraceFile identity, double initial_us)
      : trace_(std::move(identity)), initial_us_(initial_us), best_us_(initial_us) {}
  // Keeps the episode's cheapest graph where it is cheaper than all before; true then. Its rewrites are those that the
  // episode began with, and its own.
  bool offer(const mdp::Trajectory& trajectory, int no_op);
  // Goes on from a stored trace (resume). Throws Error where it belongs to another graph or other rules.
  void adopt(const rules::TraceFile& trace);
  void replace(rules::Trace rewrites, std::vector<double> cost_us);
  // The cost of the unmodified graph at other prices; replace() with costs at these follows.
  void reprice(double initial_us) { initial_us_ = initial_us; }

  double initial_us() const { return initial_us_; }
  double best_us() const { return best_us_; }
  const rules::TraceFile& trace() const { return trace_; }

 private:
  rules::TraceFile trace_;
  double initial_us_;
  double best_us_;
};

}  // namespace rlgo::learner

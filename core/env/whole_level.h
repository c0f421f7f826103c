// How fast the graph of an episode is known to be, end to end, and what a step earns by it.
#pragma once

#include "core/cost/whole_timing.h"
#include "core/env/rewrite_env.h"
#include "core/graph/graph.h"
#include "core/mdp/mdp.h"

namespace rlgo::env {

// The level is the latency, as a ratio to the unmodified graph's, that rewards have been paid for. Reward R4 moves it
// at each step to what was timed; a failure is an Error. Reward latency moves it only where the new ratio differs from
// it by more than the errors of both (the root of their squares' sum); else, and where a timing fails, the step earns
// nothing and the level stays, so that what comes later is still paid in full. Other rewards time nothing.
class WholeLevel {
 public:
  // Times `unmodified` where the reward needs it. Throws Error where there is no timer then, or it fails.
  WholeLevel(Reward reward, cost::WholeTimer timer, const graph::Graph& unmodified);

  // An episode begins at the unmodified graph, or at another one. Where that cannot be timed, the level is not known,
  // and the first time that comes in sets it and earns nothing.
  void begin() { level_ = unmodified_; }
  void begin(const graph::Graph& graph);
  // A rewrite led to `graph`: fills in what `info` states of its time. Returns the reward, percent of the unmodified
  // graph's latency. Throws Error for R4 where the timing fails.
  double step(const graph::Graph& graph, mdp::StepInfo& info);
  // What `info` states where the graph stays as it is.
  void stay(mdp::StepInfo& info) const;

 private:
  Reward reward_;
  cost::WholeTimer timer_;
  cost::WholeTiming unmodified_, level_;  // error infinite: not known
};

}  // namespace rlgo::env

// Options of `rlgo bench scale`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "learner/session/simulation.h"

namespace rlgo::learner {

struct ScaleOptions {
  std::vector<std::string> ranks = {"1", "2", "4", "8", "16", "32"};  // numbers of actors
  double seconds = 10;            // how long each run is watched once all its actors are at work
  int64_t steps_per_actor = 512;  // of an epoch
  std::string csv;                // file; "": none
  std::string launcher = "mpirun --oversubscribe --bind-to none";
  std::vector<std::string> simulate;  // numbers of actors that are played, in place of ranks
  SimulationOptions simulation;

  bool simulated() const { return !simulate.empty(); }
  // Of `simulate` or `ranks`. Throws UsageError where one is no number of actors.
  std::vector<int> counts() const;
};
void declare(OptionSink& sink, ScaleOptions& options);

}  // namespace rlgo::learner

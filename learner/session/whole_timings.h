// Whole graphs that are timed for rewards: by what, and how their timings went.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/cost/runtime.h"
#include "core/env/rewrite_env.h"
#include "core/mdp/mdp.h"
#include "learner/checkpoint.h"
#include "learner/metrics.h"
#include "learner/session/run_graph.h"

namespace rlgo::learner {

// What graphs are timed under by reward latency, whose numbers are kept apart by it: runtime, version, processor and
// number of threads. "" of other rewards.
std::string timed_under(env::Reward reward, const cost::Runtime& runtime);
// Times whole graphs in `runtime`, `rounds` in a look, for a reward that does. `under`: timed_under() of rank 0; "":
// anything. Throws Error where it is another one here: rewards of both in one run would not mean the same.
TimerOf timer_of(std::shared_ptr<cost::Runtime> runtime, env::Reward reward, int rounds, const std::string& under);
// Throws Error where a checkpoint was made under something else. `place`: its path.
void expect_timed_under(const Checkpoint& checkpoint, const std::string& under, const std::filesystem::path& place);

// Steps by mdp::WholeTimed, since the run's start.
struct WholeTimings {
  int64_t shown = 0, within_noise = 0, failed = 0;
  int64_t logged = 0;  // failures that the log has
  int64_t all() const { return shown + within_noise + failed; }
  void add(const mdp::Trajectory& trajectory);
};
// "120 graphs timed: 31 differed from the one before, 80 were within noise, 9 failed".
std::string to_text(const WholeTimings& timings);

// Where the graphs' best are those by latency: columns "timings", "timings_within_noise", "timings_failed", and
// "best_latency": of the best graph, as the upper end of its interval, relative to the unmodified one; of several
// graphs the geometric mean. Failures since the last call go to the log.
void add_timings(WholeTimings& timings, const std::vector<RunGraph>& graphs, MetricRow& row, const Log& log);

}  // namespace rlgo::learner

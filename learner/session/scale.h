// How a run grows with its actors: what one process does by itself, and a run of so many actors under mpirun.
#pragma once

#include <string>
#include <vector>

#include "actors/policy.h"
#include "core/mdp/mdp.h"
#include "learner/metrics.h"
#include "learner/session/scale_job.h"

namespace rlgo::learner {

// Steps/s of one process that plays without messages, for about `seconds`.
struct LoopSpeed {
  double env_per_s = 0;       // the environment alone: reset() and step()
  double loop_per_s = 0;      // with the policy
  double loop_per_cpu_s = 0;  // the same by CPU time: what else runs on the machine counts less
};
LoopSpeed measure_loop(mdp::BatchEnv& envs, actors::Policy& policy, double seconds);

struct ScaleRow {
  int actors = 0;
  LoopSpeed bare;
  double steps_per_s = 0;
  double waiting_fraction = 0;
  double lag_min = 0, lag_mean = 0, lag_max = 0;
  double message_bytes = 0, store_bytes = 0;  // a step
  double resident_mib = 0, private_mib = 0;   // of an actor: the largest
  double learner_mib = 0;                     // resident
  double actor_cpu = 0, learner_cpu = 0;      // cores, while all play
  double actor_sleeps = 0;                    // fraction of the time in which an actor neither runs nor could
  double update_us = 0;                       // of an update, a step
  double idle_cpu = 0;                        // cores, of an actor that waits: the largest
};
// Starts a run, waits for its actors, watches it for `seconds`. Throws Error where it ends, or job.stop reports so.
ScaleRow measure_actors(const ScaleJobOptions& job, const LoopSpeed& bare, double seconds);

// The numbers of a row by name, `one` being the first row of the table; the run's graph and agent for people.
MetricRow cells(const std::string& graph, const std::string& agent, int learners, const ScaleRow& row,
                const ScaleRow& one, unsigned cores);
std::string csv_of(const std::vector<MetricRow>& rows);
// For people: a heading, and a row.
extern const char* const kScaleHeading;
std::string to_text(const ScaleRow& row, const ScaleRow& one);

}  // namespace rlgo::learner

// What each rank of a training run does.
#pragma once

#include <string>

#include "core/comm/comm.h"
#include "core/comm/mailbox.h"
#include "launch/train/config.h"
#include "launch/train/followers.h"

namespace rlgo::launch {

// A rank that fails before its part begins. Rank 0: asks the others to stop. The others: whether rank 0 has failed
// too, as it does where all read the same bad options; it alone reports then.
bool stopped_too(comm::Comm& comm);
// Rank 0 of several: learns, prices, stores. Returns the exit status.
int run_learner(RunConfig& config, const std::string& config_text, comm::Comm& comm);
// The actors' ranks.
int run_actor(const RunConfig& config, comm::Comm& comm);
// The ranks behind rank 0 with --wm.kind latency: they time graphs, or search.
int run_latency_rank(const RunConfig& config, comm::Comm& comm);
// One process: learner and actor in turn.
int run_alone(RunConfig& config, const std::string& config_text);

}  // namespace rlgo::launch

// What each rank of a training run does.
#pragma once

#include <memory>
#include <string>

#include "core/comm/comm.h"
#include "launch/config.h"
#include "launch/train/learners.h"

namespace rlgo::launch {

// Exit status of a run that stored its state and wants to be started again with --resume: too few actors were left, a
// learner died, or a batch system asked for the machine (sysexits' EX_TEMPFAIL).
constexpr int kRestartStatus = 75;

// A rank that fails before its part begins. Rank 0: tells the others to stop. The others: whether rank 0 has failed
// too, as it does where all read the same bad options; it alone tells then.
bool stopped_too(comm::Comm& comm);
// Rank 0 of several: learns, prices, stores. Returns the exit status.
int run_learner(RunConfig& config, const std::string& config_text, comm::Comm& comm);
// The actors' ranks.
int run_actor(const RunConfig& config, comm::Comm& comm);
// One process: learner and actor in turn.
int run_alone(RunConfig& config, const std::string& config_text);

}  // namespace rlgo::launch

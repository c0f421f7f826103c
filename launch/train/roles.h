// What each rank of a training run does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/comm/comm.h"
#include "core/comm/mailbox.h"
#include "launch/train/config.h"
#include "launch/train/followers.h"

namespace rlgo::launch {

// Rank 0 reads, times operators and resumes before the others may begin; meanwhile it gives signs of life (a heartbeat
// a second, but for single long steps). Where they stop for this long it is thought dead.
constexpr double kStartSilence_s = 600;
// Sleeps until rank 0's first message of this kind. Nothing where rank 0 sends stop, or should_stop reports so. Throws
// comm::NoAnswer where nothing is heard from it for `silence_s`.
std::optional<comm::Incoming> wait_for_start(comm::Mailbox& mailbox, comm::Tag tag, double silence_s,
                                             const std::function<bool()>& should_stop);

// A rank that fails before its part begins. Rank 0: asks the others to stop. The others: whether rank 0 has failed
// too, as it does where all read the same bad options; it alone reports then.
bool stopped_too(comm::Comm& comm);
// Rank 0 of several: learns, prices, stores. Returns the exit status.
int run_learner(RunConfig& config, const std::string& config_text, comm::Comm& comm);
// The actors' ranks.
int run_actor(const RunConfig& config, comm::Comm& comm);
// One process: learner and actor in turn.
int run_alone(RunConfig& config, const std::string& config_text);

}  // namespace rlgo::launch

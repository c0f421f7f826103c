// What each learner but the first does.
#pragma once

#include <functional>

#include "core/comm/mailbox.h"
#include "core/exec/device.h"
#include "launch/train/config.h"
#include "learner/session/learners.h"

namespace rlgo::launch {

learner::LearnersOptions learners_options(const RunConfig& config);  // of the configuration
// Where the run is to be reproducible: the variables that cuBLAS and NCCL read, before either is used.
void make_reproducible(const RunConfig& config);
// See exec::tune; deterministic where the run is to be reproducible.
void tune_learner(const RunConfig& config, const exec::Device& device);

// The other learners, to the end. Returns the exit status.
int run_follower(const RunConfig& config, comm::Comm& comm);
// What run_follower puts around its work: whatever it throws, LibTorch's errors included, the other learners are
// informed before it continues; where somebody is silent, the status of a run that is to be started again is returned.
int as_follower(comm::Mailbox& mailbox, int learners, const std::function<int()>& work);

}  // namespace rlgo::launch

// How much a run learns from at once where a GPU learns (docs/learners.md).
#pragma once

#include <functional>
#include <string>

#include "learner/dream/options.h"
#include "learner/loop_options.h"
#include "learner/ppo/options.h"
#include "learner/session/learners.h"

namespace rlgo::learner {

// Whether this learner will be on a GPU, as far as --device and the machine show. No for several learners with --device
// auto: one of them may have none, and all need the same sizes.
bool learns_on_gpu(const LearnersOptions& options);

// Raises the options that nobody has set (`unset` is asked by name) to sizes that keep a GPU busy. Returns a line that
// names them; "" where all were set.
std::string fit_gpu(const std::function<bool(const std::string&)>& unset, LoopOptions& loop, PpoOptions& ppo,
                    WorldTrainerOptions& world);

}  // namespace rlgo::learner

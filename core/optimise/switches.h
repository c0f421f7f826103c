// Which setting of the runtime's own switches serves a model best on this machine.
#pragma once

#include <string>
#include <vector>

#include "core/cost/runtime.h"

namespace rlgo::optimise {

// The setting with the lowest time of the last model (the result); the usual one unless another is clearly below it.
// Null where nothing was measured.
const cost::SwitchTiming* best_switch(const std::vector<cost::SwitchTiming>& switches);
// One line about it: "faster still with the runtime's level extended, 4 threads: 1.90x against level all, 1 thread". ""
// where nothing was measured.
std::string switches_summary(const std::vector<cost::SwitchTiming>& switches);
// Where the result takes more than 1.03 of the original's time at the usual level with other threads than the usual:
// "but slower with 4 threads: 1.11 of the original's time; --threads 4 chooses for them". "" where it does not.
std::string slower_threads_text(const std::vector<cost::SwitchTiming>& switches);
// A line for each setting.
std::string to_text(const std::vector<cost::SwitchTiming>& switches);

}  // namespace rlgo::optimise

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
// A line for each setting.
std::string to_text(const std::vector<cost::SwitchTiming>& switches);

}  // namespace rlgo::optimise

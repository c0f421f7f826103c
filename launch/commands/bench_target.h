// The part of rlgo bench that checks the prices of an external runtime against its times of whole models.
#pragma once

#include <string>
#include <vector>

#include "launch/config.h"

namespace rlgo::launch {

// For each graph: its groups measured, their sum against the time of the whole model, and the same for `variants`
// graphs that random rewriting makes of it. Prints a line each.
void bench_target(const RunConfig& config, const std::vector<std::string>& graphs, int variants);

}  // namespace rlgo::launch

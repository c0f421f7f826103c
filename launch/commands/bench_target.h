// The part of rlgo bench that checks the prices of an external runtime against its times of whole models.
#pragma once

#include <string>
#include <vector>

#include "launch/config.h"
#include "launch/output.h"

namespace rlgo::launch {

// For each graph: its groups measured, their sum against the time of the whole model, and the same for `variants`
// graphs that random rewriting makes of it. Says a line each; members of "graphs" of the document "rlgo.bench/1".
Json bench_target(const Output& output, const RunConfig& config, const std::vector<std::string>& graphs, int variants);

}  // namespace rlgo::launch

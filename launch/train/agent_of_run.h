// The agent that a run has trained.
#pragma once

#include <filesystem>

#include "core/agent/agent_file.h"

namespace rlgo::launch {

// Of a run folder's best checkpoint (the newest where none has a score). Throws Error where the folder has no valid
// one, its agent does not learn, or has no plain form (--gnn.block full).
agent::AgentFile agent_of_run(const std::filesystem::path& run_folder);

}  // namespace rlgo::launch

// The agent that a run has trained, as a file for searches.
#pragma once

#include "core/agent/agent_file.h"
#include "core/nets/options.h"
#include "core/rules/rules.h"
#include "learner/session/run_folder.h"

namespace rlgo::learner {

// Of the best checkpoint (the newest where none has a score). `network`, `max_locations`: options of the run. Throws
// Error where the folder has no valid checkpoint, the rules are not those of the training, or the network has no plain
// form (--gnn.block full).
agent::AgentFile agent_of_run(const RunFolder& run, const rules::RuleSet& rules, const nets::AgentOptions& network,
                              int max_locations);

}  // namespace rlgo::learner

// Options of an agent that contradict each other, or of which one would do nothing.
#pragma once

#include "core/env/rewrite_env.h"
#include "core/nets/options.h"
#include "learner/dream/options.h"

namespace rlgo::learner {

// Throws Error that names the pair. `world_model`: the agent has one.
void check_agent(const DreamAgentOptions& dream, const nets::AgentOptions& network, const env::EnvOptions& env,
                 bool world_model);

}  // namespace rlgo::learner

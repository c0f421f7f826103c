// What agent the options make, and which of them contradict each other.
#pragma once

#include <string>

#include "core/env/rewrite_env.h"
#include "core/nets/options.h"
#include "learner/dream/options.h"

namespace rlgo::learner {

// Throws Error that names the pair. `world_model`: the agent has one.
void check_agent(const DreamAgentOptions& dream, const nets::AgentOptions& network, const env::EnvOptions& env,
                 bool world_model);

// How the agent differs from rlgo's own, " (prices hidden, head staged)"; empty where it does not.
std::string agent_form(const DreamAgentOptions& dream, const nets::AgentOptions& network, const env::EnvOptions& env,
                       bool world_model);

}  // namespace rlgo::learner

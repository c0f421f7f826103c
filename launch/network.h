// The agent's network as a run's options describe it. For files that use LibTorch.
#pragma once

#include "core/mdp/mdp.h"
#include "core/nets/actor_critic.h"
#include "launch/config.h"

namespace rlgo::launch {

// Its first weights depend on the seed alone.
nets::ActorCritic make_network(const RunConfig& config, const mdp::ObservationSpec& spec);

// Names of tensors in checkpoints start with it.
constexpr const char* kNetworkPrefix = "network/";

}  // namespace rlgo::launch

// A network as plain arrays, for who uses it without LibTorch (core/agent).
#pragma once

#include "core/agent/network.h"
#include "core/nets/actor_critic.h"

namespace rlgo::nets {

// All parameters and buffers by name, as float32.
agent::Tensors plain_tensors(const torch::nn::Module& module);
// Throws Error where the network has no plain form: AgentOptions::has_plain_form().
agent::Shape plain_shape(const AgentOptions& options);
// A copy of the network's weights. Throws Error where it has no plain form.
agent::Network plain_network(const ActorCriticImpl& network);

}  // namespace rlgo::nets

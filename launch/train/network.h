// The agent's network and trainer as a run's options describe them. For files that use LibTorch.
#pragma once

#include <memory>

#include "core/exec/device.h"
#include "core/mdp/mdp.h"
#include "core/nets/actor_critic.h"
#include "launch/config.h"
#include "learner/checkpoint.h"
#include "learner/ppo/trainer.h"

namespace rlgo::launch {

struct BrainInput;
class DreamAgent;

// Its first weights depend on the seed alone.
nets::ActorCritic make_network(const RunConfig& config, const mdp::ObservationSpec& spec);

// Names of tensors in checkpoints start with it.
constexpr const char* kNetworkPrefix = "network/";

// The agent's network and its trainer's state, to a checkpoint and back.
void store(const learner::PpoTrainer& trainer, const torch::nn::Module& network, learner::Checkpoint& checkpoint);
void restore(learner::PpoTrainer& trainer, torch::nn::Module& network, const learner::Checkpoint& checkpoint);
// Of agents with a world model.
std::shared_ptr<DreamAgent> make_dream_agent(const BrainInput& input);
torch::Device to_torch(const exec::Device& device);

}  // namespace rlgo::launch

// A PPO trainer and the network that it trains, in a checkpoint.
#pragma once

#include "learner/checkpoint.h"
#include "learner/ppo/trainer.h"

namespace rlgo::learner {

// Names of the network's tensors in checkpoints begin so; those of the trainer's state begin with "trainer/".
inline constexpr const char* kNetworkPrefix = "network/";

void store(const PpoTrainer& trainer, Checkpoint& checkpoint);  // weights, optimiser, counters
// Throws Error where the checkpoint's network has other tensors than the trainer's.
void restore(PpoTrainer& trainer, const Checkpoint& checkpoint);

}  // namespace rlgo::learner

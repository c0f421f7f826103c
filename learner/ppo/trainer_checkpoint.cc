#include "learner/ppo/trainer_checkpoint.h"

#include "learner/torch_tensors.h"

namespace rlgo::learner {
namespace {

constexpr const char* kTrainerPrefix = "trainer/";

}  // namespace

void store(const PpoTrainer& trainer, Checkpoint& checkpoint) {
  store_module(checkpoint, kNetworkPrefix, *trainer.agent());
  for (const auto& [name, tensor] : trainer.state()) checkpoint.tensors[kTrainerPrefix + name] = to_data(tensor);
}

void restore(PpoTrainer& trainer, const Checkpoint& checkpoint) {
  restore_module(checkpoint, kNetworkPrefix, *trainer.agent());
  trainer.load_state(tensors_with(checkpoint, kTrainerPrefix));
}

}  // namespace rlgo::learner

// PPO as the loop's algorithm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learner/algorithm.h"
#include "learner/ppo/trainer.h"

namespace rlgo::learner {

// Shuffles its minibatches by (seed, weights version), so that a resumed run goes on as the whole one would have.
class PpoAlgorithm : public Algorithm {
 public:
  PpoAlgorithm(PpoTrainer& trainer, uint64_t seed) : trainer_(trainer), seed_(seed) {}
  std::string weights() override;
  // Reports UpdateStats::named().
  UpdateReport update(std::vector<mdp::Trajectory> trajectories, const UpdateContext& context) override;

 private:
  PpoTrainer& trainer_;
  uint64_t seed_;
};

}  // namespace rlgo::learner

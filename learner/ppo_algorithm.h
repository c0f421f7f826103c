// PPO as the loop's algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "learner/algorithm.h"
#include "learner/distributed/learner_group.h"
#include "learner/ppo/trainer.h"

namespace rlgo::learner {

// Shuffles its minibatches by (seed, weights version), so that a resumed run goes on as the whole one would have.
class PpoAlgorithm : public Algorithm {
 public:
  PpoAlgorithm(PpoTrainer& trainer, uint64_t seed) : trainer_(trainer), seed_(seed) {}
  // Who learns along; the head hands out the trajectories.
  void set_group(std::shared_ptr<LearnerGroup> group);
  std::string weights() override;
  // Reports UpdateStats::named().
  UpdateReport update(std::vector<mdp::Trajectory> trajectories, const UpdateContext& context) override;

 private:
  PpoTrainer& trainer_;
  uint64_t seed_;
  std::shared_ptr<LearnerGroup> group_ = std::make_shared<LearnerGroup>();
};

}  // namespace rlgo::learner

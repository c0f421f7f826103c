// PPO as the loop's algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "learner/algorithm.h"
#include "learner/decoder.h"
#include "learner/distributed/learner_group.h"
#include "learner/ppo/trainer.h"
#include "learner/ppo/trainer_checkpoint.h"

namespace rlgo::learner {

// Shuffles its minibatches by (seed, weights version), so that a resumed run continues as the whole one would have.
class PpoAlgorithm : public Algorithm {
 public:
  // Trains `agent` in place, on its device.
  PpoAlgorithm(nets::Agent agent, const PpoOptions& options, uint64_t seed)
      : trainer_(std::move(agent), options), seed_(seed), decoder_(!trainer_.agent()->device().is_cpu()) {}
  std::string weights() override;
  void prepare(const Episode& episode) override;
  // Reports UpdateStats::named().
  UpdateReport update(std::vector<Episode> episodes, const UpdateContext& context) override;
  void store(Checkpoint& checkpoint) const override { learner::store(trainer_, checkpoint); }
  void restore(const Checkpoint& checkpoint) override { learner::restore(trainer_, checkpoint); }
  void set_group(const std::shared_ptr<LearnerGroup>& group) override;

 private:
  PpoTrainer trainer_;
  uint64_t seed_;
  Decoder decoder_;
  std::shared_ptr<LearnerGroup> group_ = std::make_shared<LearnerGroup>();
};

}  // namespace rlgo::learner

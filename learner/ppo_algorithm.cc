#include "learner/ppo_algorithm.h"

#include "core/nets/weights.h"

namespace rlgo::learner {

std::string PpoAlgorithm::weights() { return nets::pack(*trainer_.agent()); }

void PpoAlgorithm::set_group(std::shared_ptr<LearnerGroup> group) {
  group_ = std::move(group);
  trainer_.set_group(group_);
}

UpdateReport PpoAlgorithm::update(std::vector<mdp::Trajectory> trajectories, const UpdateContext& context) {
  Rng shuffle({seed_, static_cast<uint64_t>(context.version), 0x5F0FF1E});
  trainer_.set_weights_version(context.version);
  const auto places = balanced(trajectories, group_->size());
  trajectories = group_->scatter(std::move(trajectories), places);
  return {trainer_.update(trajectories, shuffle, context.between).named(), {}};
}

}  // namespace rlgo::learner

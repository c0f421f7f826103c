#include "learner/ppo_algorithm.h"

#include "core/nets/weights.h"

namespace rlgo::learner {

std::string PpoAlgorithm::weights() { return nets::pack(*trainer_.agent()); }

void PpoAlgorithm::set_group(const std::shared_ptr<LearnerGroup>& group) {
  group_ = group;
  trainer_.set_group(group_);
}

// Who will learn from an episode is known only once all have come.
void PpoAlgorithm::prepare(const Episode& episode) {
  if (group_->size() == 1) decoder_.ahead(episode);
}

UpdateReport PpoAlgorithm::update(std::vector<Episode> episodes, const UpdateContext& context) {
  UpdateReport report;
  Rng shuffle({seed_, static_cast<uint64_t>(context.version), 0x5F0FF1E});
  trainer_.set_weights_version(context.version);
  const auto places = balanced(episodes, group_->size());
  const auto trajectories = decoder_.take(group_->scatter(std::move(episodes), places), report.notes, context.between);
  report.values = trainer_.update(trajectories, shuffle, context.between).named();
  return report;
}

}  // namespace rlgo::learner

#include "launch/brain.h"

#include "core/base/error.h"

namespace rlgo::launch {

std::unique_ptr<actors::Policy> make_policy(const RunConfig& config, const mdp::ObservationSpec&) {
  if (config.agent == "random") return std::make_unique<actors::RandomPolicy>();
  fail("unknown agent '{}'", config.agent);
}

Brain make_brain(const RunConfig& config, const mdp::ObservationSpec&, const exec::Device&) {
  if (config.agent == "random") return {std::make_unique<learner::NoAlgorithm>(), [](learner::Checkpoint&) {}, [](const learner::Checkpoint&) {}};
  fail("unknown agent '{}'", config.agent);
}

}  // namespace rlgo::launch

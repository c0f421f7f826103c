// The agent of a run, by name: what acts and what learns.
#pragma once

#include <functional>
#include <memory>

#include "actors/policy.h"
#include "core/exec/device.h"
#include "core/mdp/mdp.h"
#include "launch/config.h"
#include "learner/algorithm.h"
#include "learner/checkpoint.h"

namespace rlgo::launch {

std::unique_ptr<actors::Policy> make_policy(const RunConfig& config, const mdp::ObservationSpec& spec);

// A learning algorithm with the means to put its whole state into a checkpoint and back.
struct Brain {
  std::unique_ptr<learner::Algorithm> algorithm;
  std::function<void(learner::Checkpoint&)> store;
  std::function<void(const learner::Checkpoint&)> restore;
};
Brain make_brain(const RunConfig& config, const mdp::ObservationSpec& spec, const exec::Device& device);

}  // namespace rlgo::launch

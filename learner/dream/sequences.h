// Episodes side by side as tensors for the world model: T steps of B episodes, shorter ones padded at their ends.
// RLFlow (Parker et al. 2022) pads in front and masks what comes out; behind, with the state starting at each episode's
// true start, no masked step can influence a real one.
#pragma once

#include <torch/types.h>

#include <span>
#include <vector>

#include "core/mdp/mdp.h"

namespace rlgo::learner {

struct Sequences {
  int64_t steps = 0, episodes = 0;  // T (of the longest), B
  // [T+1][B] what was seen, observations[t][b]; the last of an episode is what its last action led to; null behind it.
  std::vector<std::vector<const mdp::Observation*>> observations;
  torch::Tensor counts;    // [T+1, B, X] float32
  torch::Tensor rule;      // [T, B] int64; NO-OP where padded
  torch::Tensor location;  // [T, B, 2] see nets::location_features
  torch::Tensor reward;    // [T, B]
  torch::Tensor terminal;  // [T, B] 0 or 1
  torch::Tensor mask;      // [T, B] 1: a real step
};

// At least `steps` long. Throws Error on an empty list or one without steps.
Sequences make_sequences(std::span<const mdp::Trajectory* const> episodes, const mdp::ObservationSpec& spec,
                         int64_t steps = 0);

}  // namespace rlgo::learner

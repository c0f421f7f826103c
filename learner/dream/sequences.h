// Episodes side by side as tensors for the world model: T steps of B episodes, shorter ones padded at their ends.
// RLFlow pads in front and masks what comes out; behind, with the state starting at each episode's true start, no
// masked step can influence a real one.
#pragma once

#include <torch/types.h>

#include <span>
#include <vector>

#include "core/mdp/mdp.h"
#include "learner/dream/places.h"

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
  // Where the model sees locations (places.h), else undefined:
  torch::Tensor place;                // [T, B, F]
  torch::Tensor overlap;              // [T, B, X]
  torch::Tensor gone;                 // [T, B, X] int64
  torch::Tensor come_step, come_row;  // [M] int64: step, and episode among the B
  torch::Tensor come_rule, come;      // [M] int64, [M, F]
};

// At least `steps` long. Throws Error on an empty list or one without steps.
Sequences make_sequences(std::span<const mdp::Trajectory* const> episodes, const mdp::ObservationSpec& spec,
                         int64_t steps = 0);
// Adds what actions did to locations, of each of its episodes.
void add_places(Sequences& sequences, std::span<const EpisodePlaces* const> places);
// The same with the tensors on a device, numbers as `type`: copied once for all its steps.
Sequences on_device(const Sequences& s, torch::Device device, torch::ScalarType type);
// Steps [begin, end) as the model's input; `z` [end - begin, B, Z], all moved to its device.
nets::WorldInput input_of(const Sequences& s, int64_t begin, int64_t end, const torch::Tensor& z);

}  // namespace rlgo::learner

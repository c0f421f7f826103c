// What the actions of an episode did to its legal locations: inputs and targets of a world model that sees locations.
#pragma once

#include <torch/types.h>

#include <span>
#include <vector>

#include "core/mdp/mdp.h"
#include "core/nets/world_model.h"

namespace rlgo::learner {

// Of an episode of T steps; X rules, F numbers a location (WorldModel::places).
struct EpisodePlaces {
  torch::Tensor place;    // [T, F] of each action's location; 0 for NO-OP
  torch::Tensor overlap;  // [T, X] float32, see nets::Menu::overlap
  torch::Tensor gone;     // [T, X] int64: locations that go; the action's own always does
  // Locations that come, M in all: at which step, of which rule, and what they are like.
  std::vector<int64_t> come_step, come_rule;
  torch::Tensor come;  // [M, F]
};

// `features`: of each observation, the last among them, [L, F] on the CPU. Two locations are the same before and after
// a step where rule, change of cost (to 1e-4 percent) and the operator of the root are: which of equals went is not
// asked.
EpisodePlaces find_places(const mdp::Trajectory& episode, std::span<const torch::Tensor> features,
                          const mdp::ObservationSpec& spec);

}  // namespace rlgo::learner

// Advantages and returns of whole trajectories.
#pragma once

#include <span>
#include <vector>

#include "core/mdp/mdp.h"

namespace rlgo::learner {

struct Advantages {
  std::vector<float> advantages;  // [T]
  std::vector<float> returns;     // [T] advantage + value: the target of the value heads (the lambda-return)
};

// Generalised advantage estimation (Schulman et al. 2016, equations 11-16):
//   delta_t = r_t + gamma V(s_{t+1}) - V(s_t),   A_t = delta_t + gamma lambda A_{t+1},   A_T = 0.
// `values` [T] are V(s_0..s_{T-1}); `last_value` is V(s_T): 0 after a terminal step, the critic's where the episode was
// merely cut off. Throws Error where the lengths differ.
Advantages gae(std::span<const float> rewards, std::span<const float> values, float last_value, double gamma,
               double lambda);

// The same for a trajectory. The baseline is value_rule, the value of the state before any part of the action is
// chosen: one advantage serves the joint action (rule, location). A terminal trajectory ignores last_value_rule.
Advantages gae(const mdp::Trajectory& trajectory, double gamma, double lambda);

}  // namespace rlgo::learner

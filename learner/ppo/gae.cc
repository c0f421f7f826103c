#include "learner/ppo/gae.h"

#include "core/base/error.h"

namespace rlgo::learner {

Advantages gae(std::span<const float> rewards, std::span<const float> values, float last_value, double gamma,
               double lambda) {
  if (rewards.size() != values.size()) fail("gae: {} rewards, {} values", rewards.size(), values.size());
  Advantages result{std::vector<float>(rewards.size()), std::vector<float>(rewards.size())};
  double next_value = last_value, advantage = 0;
  for (size_t t = rewards.size(); t-- > 0;) {
    const double delta = rewards[t] + gamma * next_value - values[t];
    advantage = delta + gamma * lambda * advantage;
    result.advantages[t] = static_cast<float>(advantage);
    result.returns[t] = static_cast<float>(advantage + values[t]);
    next_value = values[t];
  }
  return result;
}

Advantages gae(const mdp::Trajectory& trajectory, double gamma, double lambda) {
  std::vector<float> rewards, values;
  for (const auto& step : trajectory.steps) {
    rewards.push_back(step.reward);
    values.push_back(step.value_rule);
  }
  return gae(rewards, values, trajectory.terminal ? 0.0f : trajectory.last_value_rule, gamma, lambda);
}

}  // namespace rlgo::learner

// Episodes of an agent in toy environments, stepped side by side: the smallest collector that learning tests need.
#pragma once

#include <memory>
#include <vector>

#include "core/base/rng.h"
#include "core/mdp/mdp.h"
#include "core/nets/actor_critic.h"

namespace rlgo::test {

// Plays whole episodes in `envs` until at least `steps` transitions are complete. Episodes are numbered from
// `first_episode`; each draws from its own stream (seed, episode).
template <typename ToyType>
std::vector<mdp::Trajectory> play(nets::ActorCritic& agent, std::vector<std::unique_ptr<ToyType>>& envs, int64_t steps,
                                  uint64_t seed, int64_t first_episode = 0, bool greedy = false) {
  struct Running {
    mdp::Trajectory trajectory;
    mdp::Observation now;
    Rng rng{0};
    bool done = false;
  };
  std::vector<Running> running(envs.size());
  int64_t complete = 0, next = first_episode;
  const auto begin = [&](size_t i) {
    auto& r = running[i];
    const auto episode = static_cast<uint64_t>(next++);
    r = {};
    r.rng = Rng({seed, episode});
    r.now = envs[i]->reset(r.rng.next());
    r.trajectory.seed = seed;
    r.trajectory.episode = static_cast<int64_t>(episode);
    r.trajectory.spec_hash = agent->spec().hash();
  };
  for (size_t i = 0; i < envs.size(); ++i) begin(i);
  std::vector<mdp::Trajectory> result;
  while (complete < steps) {
    std::vector<const mdp::Observation*> observations;
    std::vector<double> uniforms;
    for (auto& r : running) {
      observations.push_back(&r.now);
      uniforms.push_back(r.rng.uniform());
      uniforms.push_back(r.rng.uniform());
    }
    const auto d = agent->act(nets::collate(observations, agent->spec()), uniforms, greedy);
    for (size_t i = 0; i < envs.size(); ++i) {
      auto& r = running[i];
      auto next_step = envs[i]->step(d.actions[i]);
      r.trajectory.steps.push_back({r.now, d.actions[i], next_step.reward, d.log_prob_rule[i], d.log_prob_location[i],
                                    d.value_rule[i], d.value_location[i], next_step.info});
      r.now = next_step.observation;
      if (!next_step.terminal && !next_step.truncated) continue;
      r.trajectory.terminal = next_step.terminal;
      r.trajectory.last = r.now;
      if (!r.trajectory.terminal) {
        r.trajectory.last_value_rule = agent->act(nets::collate(r.now, agent->spec()), {}, true).value_rule[0];
      }
      complete += static_cast<int64_t>(r.trajectory.steps.size());
      result.push_back(std::move(r.trajectory));
      begin(i);
    }
  }
  return result;
}

// Mean reward per episode.
inline double mean_score(const std::vector<mdp::Trajectory>& trajectories) {
  double total = 0;
  for (const auto& t : trajectories) {
    for (const auto& step : t.steps) total += step.reward;
  }
  return total / static_cast<double>(trajectories.size());
}

template <typename ToyType>
std::vector<std::unique_ptr<ToyType>> copies(int count, const auto&... arguments) {
  std::vector<std::unique_ptr<ToyType>> envs;
  for (int i = 0; i < count; ++i) envs.push_back(std::make_unique<ToyType>(arguments...));
  return envs;
}

}  // namespace rlgo::test

// Plays a fixed number of episodes with a policy and reports how good they were. No learning, no messages.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "actors/collector.h"
#include "actors/policy.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

struct EvaluationOptions {
  uint64_t seed = 0;
  int64_t episodes = 10;
  int32_t rank = -1;  // of the episodes' names: -1 keeps them apart from those of training
  bool greedy = true;
  std::function<bool()> should_stop = [] { return false; };  // asked after every step
};

// Mean, sample standard deviation (0 for fewer than two values), extremes.
struct Spread {
  double mean = 0, deviation = 0, min = 0, max = 0;
  static Spread of(const std::vector<double>& values);  // mean, deviation and extremes
};

struct EvaluationReport {
  int64_t episodes = 0;  // finished
  int64_t lost = 0;      // ended by an exception
  int64_t terminal = 0;  // of the finished ones; the others were truncated
  int64_t steps = 0;
  Spread total_reward;   // per episode, not discounted
  Spread length;         // steps
  Spread final_cost_us;  // of the graph at the end of the episode
  Spread best_cost_us;   // lowest within the episode
  double steps_per_s = 0;
  mdp::Trajectory best;  // the episode with the lowest cost; no steps where none finished
};

// The policy's greedy flag is as before afterwards.
EvaluationReport evaluate(mdp::BatchEnv& envs, Policy& policy, const EvaluationOptions& options);

}  // namespace rlgo::actors

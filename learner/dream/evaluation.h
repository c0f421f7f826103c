// Does a dream keep its promises? What a world model and its dreams predict of real episodes, next to what came of
// them.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actors/dream_options.h"
#include "actors/dreamer.h"
#include "actors/policy.h"
#include "core/mdp/mdp.h"
#include "learner/dream/trainer.h"

namespace rlgo::learner {

// Sum of an episode's rewards.
double total_reward(const mdp::Trajectory& trajectory);

// States of real episodes, with the memory that led there, from which dreams can begin.
struct RealStates {
  actors::DreamStarts starts;
  std::vector<std::pair<size_t, size_t>> where;  // of each start: its episode, and the step that is taken from it
};
// About `most` states, evenly along the episodes. Throws Error where no episode has a step.
RealStates states_along(std::span<const mdp::Trajectory* const> episodes, WorldTrainer& trainer, int64_t most);

// Rewards of the environments of a batch from their first observations, until each has ended: [begins][steps].
std::vector<std::vector<double>> rewards_of(mdp::BatchEnv& env, actors::Policy& policy,
                                            std::vector<mdp::Observation> begins, uint64_t key);

// What the controller gets in a dream and in reality, from the same states, in so many steps.
struct DreamReturn {
  int steps = 0;
  int64_t states = 0;          // compared: those whose episode is that long, or ended by itself
  double real = 0, dream = 0;  // mean sum of rewards, percent
  double deviation = 0;        // standard error of the mean difference
  double gap() const { return dream - real; }
  // What of the gap chance does not explain: |gap| less two standard errors, at least 0.
  double error() const;
};
// Episodes must have been played by the dreamer's controller, sampled. Dreams from all the states, one each, draw from
// `key`. The dreamer's own starts stay.
std::vector<DreamReturn> compare_returns(actors::Dreamer& dreamer, const RealStates& states,
                                         std::span<const mdp::Trajectory* const> episodes,
                                         const actors::DreamOptions& options, std::span<const int> horizons,
                                         uint64_t key);

// How well a world model predicts episodes of its own controller.
struct WorldCheck {
  // With these clips.
  struct Variant {
    WorldTrainer::Clips clips;
    WorldScore score;
    std::vector<DreamReturn> returns;  // at WorldScore::kHorizons
  };
  int64_t episodes = 0, steps = 0, states = 0;
  std::vector<Variant> variants;  // the first is without clips; only that where the model keeps no ranges
};
WorldCheck check_world(actors::Dreamer& dreamer, WorldTrainer& trainer,
                       std::span<const mdp::Trajectory* const> episodes, actors::DreamOptions options, uint64_t key);

// Whether dreams are good enough to be learned from: their error is at most `guard` times the gain that dream and
// reality agree on, the smaller of the two returns; 0: always.
bool keeps_promise(const DreamReturn& measured, double guard);

}  // namespace rlgo::learner

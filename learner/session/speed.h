// How fast the parts of a run are: environment, policy, learner, dreams. By the thread's processor time where not
// stated otherwise.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/dream_env.h"
#include "actors/dreamer.h"
#include "actors/policy.h"
#include "core/mdp/mdp.h"
#include "core/nets/agent.h"
#include "learner/algorithm.h"

namespace rlgo::learner {

// Plays random legal actions, and times the environment alone, by the thread's processor time.
double environment_steps_per_s(mdp::Env& env, double seconds);

struct PolicySpeed {
  int64_t steps = 0;
  double ms = 0;     // of a decision, by the thread's processor time
  double worst = 0;  // largest difference of its log-probabilities and values from those of a full pass; relative
};
// Decisions along random rewriting, one graph at a time. `network`: a copy of the policy's.
PolicySpeed policy_speed(actors::Policy& policy, nets::AgentImpl& network, mdp::Env& env, double seconds);

struct LearnerSpeed {
  double collected_per_s = 0;  // steps of one actor: environment and policy
  double trained_per_s = 0;    // transitions of an update, all its passes
};
// One update from at least so many steps of the algorithm's own play.
LearnerSpeed learner_speed(Algorithm& algorithm, mdp::BatchEnv& envs, actors::Policy& policy, int64_t least_steps);

// Steps of dreams a second, world model and controller together, by the clock.
double dream_steps_per_s(const std::shared_ptr<actors::Dreamer>& dreamer, const actors::DreamOptions& options,
                         double seconds);

}  // namespace rlgo::learner

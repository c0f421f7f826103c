// An agent that acts on observations, by plain loops.
#pragma once

#include <memory>

#include "core/agent/judge.h"
#include "core/agent/row_values.h"
#include "core/mdp/mdp.h"

namespace rlgo::agent {

// An action and what the agent thought of it. Values are in units of reward.
struct Choice {
  mdp::Action action;
  float log_prob_rule = 0, log_prob_location = 0;  // the latter 0 for NO-OP
  float value_rule = 0, value_location = 0;
};

class Player {  // plays one network, observation after observation
 public:
  explicit Player(std::shared_ptr<const Network> network);

  // Chooses an action: drawn with two numbers in [0, 1) (rule, location), or the most probable one, NO-OP before its
  // equals, else the first of equals. Throws Error where the observation breaks the network's spec, or its logits are
  // not finite.
  Choice choose(const mdp::Observation& observation, double u_rule, double u_location, bool greedy);
  // What the agent thinks of an observation. Holds until the next call.
  const Judgement& judge(const mdp::Observation& observation);
  float value(const mdp::Observation& observation);
  // Rows computed since the beginning.
  int64_t computed() const { return rows_.computed(); }

 private:
  void pool(RowIds ids);

  RowValues rows_;
  Judge judge_;
  Summary summary_;
  Locations locations_;
};

}  // namespace rlgo::agent

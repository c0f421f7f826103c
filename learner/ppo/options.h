// Options of proximal policy optimisation.
#pragma once

#include <cstdint>

#include "core/base/options.h"

namespace rlgo::learner {

struct PpoOptions {
  double gamma = 0.99;          // discount, (0, 1]
  double lambda = 0.95;         // of GAE, [0, 1]
  double clip = 0.2;            // of the ratio, (0, 1]
  double learning_rate = 5e-4;  // of Adam, (0, 1]
  double adam_epsilon = 1e-5;
  int epochs = 4;              // passes over the data, >= 1
  int minibatch = 256;         // transitions, >= 1
  int segment = 16;            // with distinct rows: successive transitions that are shuffled as one, >= 1
  bool distinct_rows = true;   // equal rows of a local encoder are computed once per minibatch
  double entropy = 0.01;       // weight of the entropy bonus, >= 0
  double value_weight = 0.5;   // >= 0; shared by both value heads
  double value_clip = 0;       // in units of the value scale; 0 = off
  double max_grad_norm = 0.5;  // 0 = off
  double target_kl = 0.03;     // stop the update once a minibatch exceeds it; 0 = off
  bool normalize_advantages = true;
  bool normalize_returns = true;  // value heads learn (return - mean) / deviation, running (PopArt)
};
// Options ppo.*.
void declare(OptionSink& sink, PpoOptions& options);
// Throws Error naming the option that is out of bounds.
void check(const PpoOptions& options);

}  // namespace rlgo::learner

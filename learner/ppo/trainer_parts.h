// What PpoTrainer's own files share.
#pragma once

#include <vector>

#include "learner/ppo/trainer.h"
#include "learner/ppo/transitions.h"

namespace rlgo::learner {

// This learner's part of a minibatch: sums over its transitions, divided by the size of the whole minibatch.
struct PpoTrainer::Minibatch {
  enum Part { policy, value, location_value, entropy_rule, entropy_location, kl, clipped, kParts };
  torch::Tensor loss;       // undefined where the part is empty
  torch::Tensor parts;      // [kParts] float64 where the network is
  torch::Tensor deviation;  // [] of its ratios from 1, where the first of an update; undefined where the part is empty
};

// What minibatches come to where the network is. The host reads it once a pass (PpoTrainer::read).
struct PpoTrainer::SumsThere {
  enum Sum { minibatches = Minibatch::kParts, grad_norm, kSums };  // behind the parts
  torch::Tensor sums;                                              // [kSums] float64
  torch::Tensor live;       // [] float64 1: no minibatch has exceeded target_kl yet
  torch::Tensor last_kl;    // [] float64
  torch::Tensor deviation;  // [] float64; of the first minibatch
  torch::Tensor taken;      // [] float32; steps
};

struct PpoTrainer::Sums {
  UpdateStats stats;
  int64_t steps = 0;                  // minibatches that gave a gradient step
  std::optional<SumsThere> there;     // where the host does not look at each minibatch
  std::vector<int64_t> first_chosen;  // this learner's part of the first minibatch
};

}  // namespace rlgo::learner

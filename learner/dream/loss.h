// The terms of the world model's loss as pure functions. `mask` [*] float: 1 where a step is real, 0 where it pads a
// shorter episode; every mean runs over the real steps alone. Results are scalars.
#pragma once

#include <torch/types.h>

#include "core/nets/mdn.h"
#include "core/nets/world_model.h"

namespace rlgo::learner {

// mean of x [*] over mask; 0 where nothing is real.
torch::Tensor masked_mean(const torch::Tensor& x, const torch::Tensor& mask);

// L_z = - mean_t 1/Z sum_i log sum_k pi_ik N(z_i; mu_ik, sigma_ik^2): nats per latent dimension. target [*, Z].
torch::Tensor latent_loss(const nets::Mixture& mixture, const torch::Tensor& target, const torch::Tensor& mask);
// L_r = mean of (r_r - r)^2 over the steps and members r that count, standardised rewards. predicted [*, R], target
// [*], counts_for [*, R] float (bootstrap weights, 0 or 1).
torch::Tensor reward_loss(const torch::Tensor& predicted, const torch::Tensor& target, const torch::Tensor& counts_for,
                          const torch::Tensor& mask);
// L_d = mean_t BCE(d, target), the positive class weighted (Ha and Schmidhuber weigh it by 10). logit, target [*].
torch::Tensor terminal_loss(const torch::Tensor& logit, const torch::Tensor& target, const torch::Tensor& mask,
                            double positive_weight);
// L_m = mean_t 1/X sum_x BCE(present, count > 0). logit [*, X], count [*, X].
torch::Tensor present_loss(const torch::Tensor& logit, const torch::Tensor& count, const torch::Tensor& mask);
// L_c = mean over (t, x) with count > 0 of smooth L1 (Huber, delta 1) of log(1 + count). log_count, count [*, X].
torch::Tensor count_loss(const torch::Tensor& log_count, const torch::Tensor& count, const torch::Tensor& mask);
// Cross-entropy of whole numbers: mean_t sum_x -log softmax(logits)_x,target. logits [*, X, C], target [*, X] int64 in
// [0, C).
torch::Tensor class_loss(const torch::Tensor& logits, const torch::Tensor& target, const torch::Tensor& mask);
// Of locations that come, predicted and target [M, F] (WorldModel::places): mean squared error of their embeddings plus
// smooth L1 of asinh(10 x change of cost in percent); 0 where M is.
torch::Tensor come_loss(const torch::Tensor& predicted, const torch::Tensor& target);
// Mean squared error of the ensemble's transition heads over the members that a step counts for. members [*, R, Z],
// target [*, Z], counts_for as above.
torch::Tensor members_loss(const torch::Tensor& members, const torch::Tensor& target, const torch::Tensor& counts_for,
                           const torch::Tensor& mask);

}  // namespace rlgo::learner

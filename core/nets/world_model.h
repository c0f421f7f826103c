// The world model (Ha and Schmidhuber 2018): an encoder V of observations, a memory M (LSTM) and heads that predict
// what an action does: the next latent as mixtures, the reward, whether the episode ends, and the legal actions as
// counts per rule, which give the rule mask and the location masks exactly. B graphs, Z latent, X rules, H hidden
// units, K components, R members of the ensemble. Definitions only; learner/world trains it.
#pragma once

#include <torch/nn/module.h>

#include <array>
#include <span>
#include <string>

#include "core/mdp/mdp.h"
#include "core/nets/batch.h"
#include "core/nets/dense.h"
#include "core/nets/gn.h"
#include "core/nets/mdn.h"

namespace rlgo::nets {

// h and c of the LSTM, [B, H].
struct Memory {
  torch::Tensor h, c;
};

// Where B graphs stand and what is done to them, as tensors.
struct WorldInput {
  torch::Tensor z;         // [*, Z] standardised latents
  torch::Tensor counts;    // [*, X] float32: legal locations
  torch::Tensor rule;      // [*] int64 in [0, X], X is NO-OP
  torch::Tensor location;  // [*, 2] see location_features
};
// An action's place as two numbers: (location + 1/2) / count of its rule, and location / max_locations; 0 for NO-OP.
std::array<float, 2> location_features(mdp::Action action, std::span<const int32_t> counts, int32_t max_locations);

struct Prediction {
  Mixture z;                // of the next latent, standardised
  torch::Tensor reward;     // [*, R] standardised; members of the ensemble
  torch::Tensor terminal;   // [*] logit
  torch::Tensor present;    // [*, X] logit that an rule has a location
  torch::Tensor log_count;  // [*, X] log(1 + count) where it has
  torch::Tensor members;    // [*, R, Z] next latents of the ensemble's transition heads
};

class WorldModelImpl : public torch::nn::Module {  // mixture-density RNN over latent states
 public:
  // Initial weights depend on the seed alone.
  WorldModelImpl(const mdp::ObservationSpec& spec, const WorldOptions& options, uint64_t seed);

  const WorldOptions& options() const { return options_; }
  const mdp::ObservationSpec& spec() const { return spec_; }  // latent_features = Z + H
  int64_t latent_width() const { return options_.encoder.width; }
  torch::Device device() const { return z_mean_.device(); }

  Encoder& encoder() { return encoder_; }
  // Latents of observations as the encoder gives them, [B, Z]; differentiable.
  torch::Tensor encode(const GraphBatch& batch) { return encoder_(batch).global; }
  torch::Tensor standardise(const torch::Tensor& raw_z) const { return (raw_z - z_mean_) / z_deviation_; }
  torch::Tensor reward_units(const torch::Tensor& standardised) const {
    return standardised * reward_deviation_ + reward_mean_;
  }
  torch::Tensor standardise_reward(const torch::Tensor& reward) const {
    return (reward - reward_mean_) / reward_deviation_;
  }
  // Replaces the statistics; [Z], [Z], scalars. Deviations are kept above 1e-4.
  void set_latent_statistics(const torch::Tensor& mean, const torch::Tensor& deviation);
  void set_reward_statistics(double mean, double deviation);

  Memory blank(int64_t graphs) const;  // memory at the start of an episode, [graphs, hidden]
  // One step of B graphs; `memory` moves on.
  Prediction step(const WorldInput& input, Memory& memory);
  // T steps of B graphs, inputs [T, B, ...]; `memory` moves on; predictions [T, B, ...]. Also gives h after each step.
  Prediction sequence(const WorldInput& input, Memory& memory);

  // Means of the predicted counts as whole numbers [*, X] in [0, max_locations]: 0 where absence is likelier.
  torch::Tensor counts_of(const Prediction& prediction) const;

 private:
  torch::Tensor features(const WorldInput& input) const;
  Prediction heads(const torch::Tensor& h, const WorldInput& input);

  mdp::ObservationSpec spec_;
  WorldOptions options_;
  Encoder encoder_{nullptr};
  torch::Tensor rule_table_;                 // [X+1, action_width]
  torch::Tensor w_ih_, w_hh_, b_ih_, b_hh_;  // [4H, in], [4H, H], [4H], [4H]: gates i f g o
  Dense mixture_{nullptr}, terminal_{nullptr}, present_{nullptr}, count_{nullptr}, members_{nullptr};
  Dense reward_hidden_{nullptr}, reward_out_{nullptr};
  torch::Tensor stay_;  // [X] how far an rule that is legal tends to stay so
  torch::Tensor z_mean_, z_deviation_, reward_mean_, reward_deviation_;  // buffers
};
TORCH_MODULE(WorldModel);

}  // namespace rlgo::nets

// The world model (Ha and Schmidhuber 2018): an encoder V of observations, a memory M (LSTM) and heads that predict
// what an action does: the next latent as mixtures, the reward, whether the episode ends, and the legal actions as
// counts per rule, which give the rule mask and the location masks exactly. B graphs, Z latent, X rules, H hidden
// units, K components, R members of the ensemble, F = place_width() numbers of a location. Definitions only;
// learner/dream trains it.
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

inline constexpr int64_t kMostChange = 8;  // changes of a count beyond it are predicted as it

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
  // Where the model sees locations, else undefined; 0 for NO-OP:
  torch::Tensor place;    // [*, F] the action's location, see WorldModel::places
  torch::Tensor overlap;  // [*, X] locations of each rule that share a node with it, see Menu::overlap
};
// An action's place as two numbers: (location + 1/2) / count of its rule, and location / max_locations; 0 for NO-OP.
std::array<float, 2> location_features(mdp::Action action, std::span<const int32_t> counts, int32_t max_locations);

struct Prediction {
  Mixture z;                // of the next latent, standardised
  torch::Tensor reward;     // [*, R] on the model's scale, see reward_units; members of the ensemble
  torch::Tensor terminal;   // [*] logit
  torch::Tensor present;    // [*, X] logit that a rule has a location; CountModel::log
  torch::Tensor log_count;  // [*, X] log(1 + count) where it has; CountModel::log
  torch::Tensor change;     // [*, X, 2 kMostChange + 1] logits of count' - count + kMostChange; CountModel::change
  torch::Tensor gone;       // [*, X, kMostChange + 1] logits of how many locations go; with locations
  torch::Tensor members;    // [*, R, Z] next latents of the ensemble's transition heads
  torch::Tensor trunk;      // [*, T] what come() reads; with locations
};

class WorldModelImpl : public torch::nn::Module {  // mixture-density RNN over latent states
 public:
  // Initial weights depend on the seed alone.
  WorldModelImpl(const mdp::ObservationSpec& spec, const WorldOptions& options, uint64_t seed);

  const WorldOptions& options() const { return options_; }
  // latent_features: Z + H, or Z where the model sees locations (location_latents = F).
  const mdp::ObservationSpec& spec() const { return spec_; }
  int64_t latent_width() const { return options_.encoder.width; }
  int64_t place_width() const { return options_.location_width + 2; }
  torch::Device device() const { return z_mean_.device(); }

  // Moves the model. On a device the LSTM's weights lie one after the other then, as cuDNN reads them: else it would
  // copy them in each pass.
  using torch::nn::Module::to;
  void to(torch::Device device, bool non_blocking = false) override;
  void flatten_weights();

  Encoder& encoder() { return encoder_; }
  // Latents of observations as the encoder gives them, [B, Z]; differentiable.
  torch::Tensor encode(const GraphBatch& batch) { return encoder_(batch).global; }
  // [L, F] of the batch's locations: a fixed random map of the embeddings of their matched nodes (root, mean of the
  // others) to location_width numbers, then change of cost in percent, and 1 where that is an estimate. No gradient.
  torch::Tensor places(const GraphBatch& batch, const Encoding& encoded) const;
  torch::Tensor standardise(const torch::Tensor& raw_z) const { return (raw_z - z_mean_) / z_deviation_; }
  // Between the model's scale of rewards and percent.
  torch::Tensor reward_units(const torch::Tensor& scaled) const;
  torch::Tensor scale_reward(const torch::Tensor& reward) const;
  double reward_deviation() const { return reward_deviation_.item<double>(); }  // percent
  // Replaces the statistics; [Z], [Z], scalars. Deviations are kept above 1e-4.
  void set_latent_statistics(const torch::Tensor& mean, const torch::Tensor& deviation);
  void set_reward_statistics(double mean, double deviation);
  // Ranges: raw latents [Z] twice, rewards of each rule and NO-OP [X+1] twice; low > high where nothing was seen.
  void set_ranges(const torch::Tensor& z_low, const torch::Tensor& z_high, const torch::Tensor& reward_low,
                  const torch::Tensor& reward_high);
  torch::Tensor clip_latent(const torch::Tensor& z) const;                                  // standardised
  torch::Tensor clip_reward(const torch::Tensor& reward, const torch::Tensor& rule) const;  // percent
  // What the controller reads of a state: [z, h]; or, where the model sees locations, z by the statistics of when
  // freeze_view() was called first, and no h: it stays the same for a state while the model trains on.
  torch::Tensor view(const torch::Tensor& z, const torch::Tensor& h) const;
  void freeze_view();

  Memory blank(int64_t graphs) const;  // memory at the start of an episode, [graphs, hidden]
  // One step of B graphs; `memory` moves on.
  Prediction step(const WorldInput& input, Memory& memory);
  // T steps of B graphs, inputs [T, B, ...]; `memory` moves on; predictions [T, B, ...].
  Prediction sequence(const WorldInput& input, Memory& memory);

  // The likeliest counts as whole numbers [*, X] in [0, max_locations], after an action on states with `counts`.
  torch::Tensor counts_of(const Prediction& prediction, const torch::Tensor& counts) const;
  // Features [M, F] of locations of rules [M] that an action makes: `trunk` [M, T] its prediction, `place` [M, F]
  // where.
  torch::Tensor come(const torch::Tensor& trunk, const torch::Tensor& rule, const torch::Tensor& place);

 private:
  torch::Tensor features(const WorldInput& input) const;
  Prediction heads(const torch::Tensor& h, const WorldInput& input);
  void counts_heads(const torch::Tensor& h, const WorldInput& input, Prediction& p);
  torch::Tensor reward_head(const torch::Tensor& h, const WorldInput& input, const Prediction& p);
  void make_heads(Rng& rng);
  void make_location_heads(Rng& rng);
  void make_statistics(Rng& rng);

  mdp::ObservationSpec spec_;
  WorldOptions options_;
  Encoder encoder_{nullptr};
  torch::Tensor rule_table_;                 // [X+1, action_width]
  torch::Tensor w_ih_, w_hh_, b_ih_, b_hh_;  // [4H, in], [4H, H], [4H], [4H]: gates i f g o
  Dense mixture_{nullptr}, terminal_{nullptr}, present_{nullptr}, count_{nullptr}, members_{nullptr};
  Dense members_hidden_{nullptr}, reward_hidden_{nullptr}, reward_out_{nullptr};
  torch::Tensor stay_;  // [X] how far a rule that is legal tends to stay so
  Dense trunk_{nullptr}, change_{nullptr}, gone_{nullptr}, come_in_{nullptr}, come_out_{nullptr};
  torch::Tensor change_by_overlap_,
      gone_by_overlap_;                          // [kMostChange + 1, classes] logits by how many locations overlap
  torch::Tensor change_by_rule_, gone_by_rule_;  // [X+1, X classes] logits by the rule that is applied
  torch::Tensor come_table_;                     // [X, come width]
  torch::Tensor own_saving_;                     // [] weight of the exact change of cost in the reward
  torch::Tensor z_mean_, z_deviation_, reward_mean_, reward_deviation_;  // buffers, as the following
  torch::Tensor z_low_, z_high_, reward_low_, reward_high_;              // where ranges are kept
  torch::Tensor place_map_, view_mean_, view_deviation_, view_frozen_;   // where the model sees locations
};
TORCH_MODULE(WorldModel);

}  // namespace rlgo::nets

#include "core/nets/world_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace rlgo::nets {

using torch::Tensor;

namespace {

constexpr double kMinDeviation = 1e-4;
constexpr int64_t kRewardWidth = 128;
constexpr double kNoOpEnds = 16;    // logit
constexpr double kRarelyEnds = -6;  // logit of other ends, before training

}  // namespace

std::array<float, 2> location_features(mdp::Action action, std::span<const int32_t> counts, int32_t max_locations) {
  if (static_cast<size_t>(action.rule) >= counts.size()) return {0, 0};
  const auto location = static_cast<float>(action.location);
  const auto count = static_cast<float>(std::max(counts[static_cast<size_t>(action.rule)], 1));
  return {(location + 0.5f) / count, location / static_cast<float>(max_locations)};
}

WorldModelImpl::WorldModelImpl(const mdp::ObservationSpec& spec, const WorldOptions& options, uint64_t seed)
    : spec_(spec), options_((check(options), options)) {
  Rng rng({seed, 0x304D31});
  const int64_t z = options.encoder.width, h = options.hidden, k = options.mixtures, x = spec.rules,
                r = options.ensemble;
  spec_.latent_features = static_cast<int32_t>(z + h);
  encoder_ = register_module("encoder", Encoder(spec, options.encoder, rng));
  rule_table_ = register_parameter("xfer_table", normal_init({x + 1, options.action_width}, 0.5, rng));
  const int64_t in = z + x + options.action_width + 2;
  w_ih_ = register_parameter("w_ih", uniform_init({4 * h, in}, 1.0, in + h, rng));
  w_hh_ = register_parameter("w_hh", uniform_init({4 * h, h}, 1.0, in + h, rng));
  b_ih_ = register_parameter("b_ih", torch::zeros({4 * h}));
  b_hh_ = register_parameter("b_hh", torch::zeros({4 * h}));
  mixture_ = register_module("mixture", Dense(h, z * k * 3, rng, DenseOptions{.gain = 0.3, .bias_deviation = 0.3}));
  terminal_ = register_module("terminal", Dense(h, 1, rng));
  present_ = register_module("present", Dense(h, x, rng, DenseOptions{.gain = 0.3}));
  count_ = register_module("count", Dense(h, x, rng, DenseOptions{.gain = 0.1}));
  members_ = register_module("members", Dense(h, r * z, rng, DenseOptions{.gain = 0.3}));
  const int64_t reward_in = options.reward_model == RewardModel::separate ? h + z + options.action_width + 2 : h;
  reward_hidden_ =
      register_module("reward_hidden", Dense(reward_in, r * kRewardWidth, rng, DenseOptions{.gain = std::sqrt(2.0)}));
  reward_out_ = register_module("reward_out", Dense(kRewardWidth, r, rng));
  stay_ = register_parameter("stay", torch::full({x}, 3.0));
  z_mean_ = register_buffer("z_mean", torch::zeros({z}));
  z_deviation_ = register_buffer("z_deviation", torch::ones({z}));
  reward_mean_ = register_buffer("reward_mean", torch::zeros({}));
  reward_deviation_ = register_buffer("reward_deviation", torch::ones({}));
  torch::NoGradGuard no_grad;
  terminal_->bias.fill_(kRarelyEnds);
  b_ih_.slice(0, h, 2 * h).fill_(1.0);  // forget gate open (Gers et al. 2000)
}

void WorldModelImpl::set_latent_statistics(const Tensor& mean, const Tensor& deviation) {
  torch::NoGradGuard no_grad;
  z_mean_.copy_(mean);
  z_deviation_.copy_(deviation.clamp_min(kMinDeviation));
}

void WorldModelImpl::set_reward_statistics(double mean, double deviation) {
  torch::NoGradGuard no_grad;
  reward_mean_.fill_(mean);
  reward_deviation_.fill_(std::max(deviation, kMinDeviation));
}

Memory WorldModelImpl::blank(int64_t graphs) const {
  const auto zeros = torch::zeros({graphs, options_.hidden}, z_mean_.options());
  return {zeros, zeros};
}

Tensor WorldModelImpl::features(const WorldInput& input) const {
  return torch::cat({input.z, input.counts.log1p(), torch::embedding(rule_table_, input.rule), input.location}, -1);
}

Prediction WorldModelImpl::heads(const Tensor& h, const WorldInput& input) {
  const auto lead = h.sizes().slice(0, static_cast<size_t>(h.dim() - 1));
  const auto shaped = [&](const Tensor& t, std::initializer_list<int64_t> tail) {
    std::vector<int64_t> sizes(lead.begin(), lead.end());
    sizes.insert(sizes.end(), tail);
    return t.reshape(sizes);
  };
  const int64_t z = latent_width(), k = options_.mixtures, r = options_.ensemble;
  Prediction p;
  const auto parts = shaped(mixture_(h), {3, z, k});
  // The mean is what changes: most dimensions of the latent move little in one rewrite.
  p.z = {parts.select(-3, 0), parts.select(-3, 1) + input.z.unsqueeze(-1),
         floored_log_sigma(parts.select(-3, 2), options_.sigma_floor)};
  // NO-OP ends an episode by contract (mdp::Action); the head has to learn only other ends.
  p.terminal = terminal_(h).squeeze(-1) + kNoOpEnds * (input.rule == spec_.rules).to(h.scalar_type());
  p.present = present_(h) + stay_ * ((input.counts > 0).to(h.scalar_type()) * 2 - 1);
  p.log_count = count_(h) + input.counts.log1p();
  p.members = shaped(members_(h), {r, z}) + input.z.unsqueeze(-2);
  const auto seen =
      options_.reward_model == RewardModel::separate
          ? torch::cat(
                {h.detach(), input.z.detach(), torch::embedding(rule_table_, input.rule).detach(), input.location}, -1)
          : h;
  const auto hidden = shaped(torch::relu(reward_hidden_(seen)), {r, kRewardWidth});
  p.reward = (hidden * reward_out_->weight).sum(-1) + reward_out_->bias;
  return p;
}

Prediction WorldModelImpl::step(const WorldInput& input, Memory& memory) {
  const auto [h, c] = torch::lstm_cell(features(input), {memory.h, memory.c}, w_ih_, w_hh_, b_ih_, b_hh_);
  memory = {h, c};
  return heads(h, input);
}

Prediction WorldModelImpl::sequence(const WorldInput& input, Memory& memory) {
  const auto [out, h, c] =
      torch::lstm(features(input), {memory.h.unsqueeze(0), memory.c.unsqueeze(0)}, {w_ih_, w_hh_, b_ih_, b_hh_},
                  /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0.0, is_training(), /*bidirectional=*/false,
                  /*batch_first=*/false);
  memory = {h.squeeze(0), c.squeeze(0)};
  return heads(out, input);
}

Tensor WorldModelImpl::counts_of(const Prediction& p) const {
  const auto counts = p.log_count.expm1().round().clamp(1, spec_.max_locations);
  return counts.masked_fill(p.present <= 0, 0);
}

}  // namespace rlgo::nets

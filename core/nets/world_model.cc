#include "core/nets/world_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/nets/graph_ops.h"
#include "core/nets/transfer.h"

namespace rlgo::nets {

using torch::Tensor;

namespace {

constexpr double kMinDeviation = 1e-4;
constexpr int64_t kRewardWidth = 128;
constexpr int64_t kMemberWidth = 64;
constexpr int64_t kTrunkWidth = 256;
constexpr int64_t kComeWidth = 64;
constexpr double kNoOpEnds = 16;    // logit
constexpr double kRarelyEnds = -6;  // logit of other ends, before training
constexpr double kPrior = 4;        // logit of the likeliest change of a count, before training
constexpr double kTableScale = 30;  // of logits by rule over their parameters: a few updates must be able to turn them
constexpr double kFine = 10;        // changes of cost are read as asinh(kFine x percent), too: useful ones are small

Tensor symlog(const Tensor& x) { return x.sign() * x.abs().log1p(); }
Tensor symexp(const Tensor& x) { return x.sign() * x.abs().expm1(); }

// Features of a location as layers read them: [*, F + 1].
Tensor readable(const Tensor& place) {
  const int64_t width = place.size(-1);
  const auto delta = place.slice(-1, width - 2, width - 1);
  return torch::cat(
      {place.slice(-1, 0, width - 2), torch::asinh(kFine * delta), delta.clamp(-10, 10), place.slice(-1, width - 1)},
      -1);
}

// `t` [..., n] with its last dimension split, the others as `lead`.
Tensor shaped(const Tensor& t, torch::IntArrayRef lead, std::initializer_list<int64_t> tail) {
  std::vector<int64_t> sizes(lead.begin(), lead.end());
  sizes.insert(sizes.end(), tail);
  return t.reshape(sizes);
}

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
  const int64_t z = options.encoder.width, h = options.hidden, x = spec.rules;
  spec_.latent_features = static_cast<int32_t>(options.locations ? z : z + h);
  spec_.location_latents = options.locations ? static_cast<int32_t>(place_width()) : 0;
  encoder_ = register_module("encoder", Encoder(spec, options.encoder, rng));
  rule_table_ = register_parameter("xfer_table", normal_init({x + 1, options.action_width}, 0.5, rng));
  const int64_t in = z + x + options.action_width + 2 + (options.locations ? place_width() + 1 + x : 0);
  w_ih_ = register_parameter("w_ih", uniform_init({4 * h, in}, 1.0, in + h, rng));
  w_hh_ = register_parameter("w_hh", uniform_init({4 * h, h}, 1.0, in + h, rng));
  b_ih_ = register_parameter("b_ih", torch::zeros({4 * h}));
  b_hh_ = register_parameter("b_hh", torch::zeros({4 * h}));
  make_heads(rng);
  if (options.locations) make_location_heads(rng);
  make_statistics(rng);
  torch::NoGradGuard no_grad;
  terminal_->bias.fill_(kRarelyEnds);
  b_ih_.slice(0, h, 2 * h).fill_(1.0);  // forget gate open (Gers et al. 2000)
}

void WorldModelImpl::to(torch::Device device, bool non_blocking) {
  Module::to(device, non_blocking);
  if (device.is_cuda()) flatten_weights();
}

void WorldModelImpl::flatten_weights() {
  torch::NoGradGuard no_grad;
  constexpr int64_t kLstm = 2;  // cuDNN's number
  at::_cudnn_rnn_flatten_weight({w_ih_, w_hh_, b_ih_, b_hh_}, /*weight_stride0=*/4, /*input_size=*/w_ih_.size(1), kLstm,
                                options_.hidden, /*proj_size=*/0, /*num_layers=*/1, /*batch_first=*/false,
                                /*bidirectional=*/false);
}

void WorldModelImpl::make_heads(Rng& rng) {
  const int64_t z = latent_width(), h = options_.hidden, k = options_.mixtures, x = spec_.rules, r = options_.ensemble;
  const int64_t seen = z + options_.action_width + 2;  // of latent and action, next to h
  const bool locations = options_.locations;
  if (locations) {
    trunk_ = register_module("trunk", Dense(h + w_ih_.size(1), kTrunkWidth, rng, DenseOptions{.gain = std::sqrt(2.0)}));
  }
  mixture_ = register_module("mixture", Dense(h, z * k * 3, rng, DenseOptions{.gain = 0.3, .bias_deviation = 0.3}));
  terminal_ = register_module("terminal", Dense(h, 1, rng));
  if (options_.counts == CountModel::log) {
    present_ = register_module("present", Dense(h, x, rng, DenseOptions{.gain = 0.3}));
    count_ = register_module("count", Dense(h, x, rng, DenseOptions{.gain = 0.1}));
  } else {
    change_ = register_module(
        "change", Dense(locations ? kTrunkWidth : h, x * (2 * kMostChange + 1), rng, DenseOptions{.gain = 0.1}));
  }
  if (options_.own_trunks) {
    members_hidden_ =
        register_module("members_hidden", Dense(h + seen, r * kMemberWidth, rng, DenseOptions{.gain = std::sqrt(2.0)}));
    members_ = register_module("members", Dense(kMemberWidth, r * z, rng, DenseOptions{.gain = 0.3}));
  } else {
    members_ = register_module("members", Dense(h, r * z, rng, DenseOptions{.gain = 0.3}));
  }
  const bool separate = options_.reward_model == RewardModel::separate;
  const int64_t reward_in = locations ? kTrunkWidth : separate ? h + seen : h;
  reward_hidden_ =
      register_module("reward_hidden", Dense(reward_in, r * kRewardWidth, rng, DenseOptions{.gain = std::sqrt(2.0)}));
  reward_out_ = register_module("reward_out", Dense(kRewardWidth, r, rng, DenseOptions{.gain = locations ? 0.0 : 1.0}));
  if (options_.counts == CountModel::log) stay_ = register_parameter("stay", torch::full({x}, 3.0));
}

void WorldModelImpl::make_location_heads(Rng& rng) {
  const int64_t x = spec_.rules, most = kMostChange;
  gone_ = register_module("gone", Dense(kTrunkWidth, x * (most + 1), rng, DenseOptions{.gain = 0.1}));
  come_in_ = register_module("come_in", Dense(kTrunkWidth, kComeWidth, rng, DenseOptions{.gain = std::sqrt(2.0)}));
  come_table_ = register_parameter("come_table", normal_init({x, kComeWidth}, 0.5, rng));
  come_out_ = register_module("come_out", Dense(kComeWidth, options_.location_width + 2, rng));
  // Before training: as many locations go as share a node with the action's, and none come.
  auto change = torch::zeros({most + 1, 2 * most + 1}), gone = torch::zeros({most + 1, most + 1});
  for (int64_t o = 0; o <= most; ++o) {
    change[o][most - o] = kPrior;
    gone[o][o] = kPrior;
  }
  change_by_overlap_ = register_parameter("change_by_overlap", change);
  gone_by_overlap_ = register_parameter("gone_by_overlap", gone);
  change_by_rule_ = register_parameter("change_by_rule", torch::zeros({x + 1, x * (2 * most + 1)}));
  gone_by_rule_ = register_parameter("gone_by_rule", torch::zeros({x + 1, x * (most + 1)}));
  own_saving_ = register_parameter("own_saving", torch::ones({}));
}

void WorldModelImpl::make_statistics(Rng& rng) {
  const int64_t z = latent_width(), x = spec_.rules;
  z_mean_ = register_buffer("z_mean", torch::zeros({z}));
  z_deviation_ = register_buffer("z_deviation", torch::ones({z}));
  reward_mean_ = register_buffer("reward_mean", torch::zeros({}));
  reward_deviation_ = register_buffer("reward_deviation", torch::ones({}));
  if (options_.ranges) {
    z_low_ = register_buffer("z_low", torch::ones({z}));
    z_high_ = register_buffer("z_high", -torch::ones({z}));
    reward_low_ = register_buffer("reward_low", torch::ones({x + 1}));
    reward_high_ = register_buffer("reward_high", -torch::ones({x + 1}));
  }
  if (!options_.locations) return;
  place_map_ = register_buffer(
      "place_map", normal_init({options_.location_width, 2 * z}, 1 / std::sqrt(2.0 * static_cast<double>(z)), rng));
  view_mean_ = register_buffer("view_mean", torch::zeros({z}));
  view_deviation_ = register_buffer("view_deviation", torch::ones({z}));
  view_frozen_ = register_buffer("view_frozen", torch::zeros({}));
}

void WorldModelImpl::set_latent_statistics(const Tensor& mean, const Tensor& deviation) {
  torch::NoGradGuard no_grad;
  z_mean_.copy_(to_device(mean, device(), z_mean_.scalar_type()));
  z_deviation_.copy_(to_device(deviation.clamp_min(kMinDeviation), device(), z_mean_.scalar_type()));
}

void WorldModelImpl::set_reward_statistics(double mean, double deviation) {
  torch::NoGradGuard no_grad;
  reward_mean_.fill_(mean);
  reward_deviation_.fill_(std::max(deviation, kMinDeviation));
}

void WorldModelImpl::set_ranges(const Tensor& z_low, const Tensor& z_high, const Tensor& reward_low,
                                const Tensor& reward_high) {
  if (!options_.ranges) return;
  torch::NoGradGuard no_grad;
  const std::pair<Tensor*, const Tensor*> moved[] = {
      {&z_low_, &z_low}, {&z_high_, &z_high}, {&reward_low_, &reward_low}, {&reward_high_, &reward_high}};
  for (const auto& [to, from] : moved) to->copy_(to_device(*from, device(), to->scalar_type()));
}

Tensor WorldModelImpl::clip_latent(const Tensor& z) const {
  if (!options_.ranges) return z;
  const auto clipped = z.minimum(standardise(z_high_)).maximum(standardise(z_low_));
  return torch::where(z_low_ <= z_high_, clipped, z);
}

Tensor WorldModelImpl::clip_reward(const Tensor& reward, const Tensor& rule) const {
  if (!options_.ranges) return reward;
  const auto low = reward_low_.index_select(0, rule.reshape(-1)).reshape(rule.sizes());
  const auto high = reward_high_.index_select(0, rule.reshape(-1)).reshape(rule.sizes());
  return torch::where(low <= high, reward.minimum(high).maximum(low), reward);
}

Tensor WorldModelImpl::reward_units(const Tensor& scaled) const {
  const auto standard = options_.reward_scale == RewardScale::symlog ? symexp(scaled) : scaled;
  return standard * reward_deviation_ + reward_mean_;
}

Tensor WorldModelImpl::scale_reward(const Tensor& reward) const {
  const auto standard = (reward - reward_mean_) / reward_deviation_;
  return options_.reward_scale == RewardScale::symlog ? symlog(standard) : standard;
}

Tensor WorldModelImpl::view(const Tensor& z, const Tensor& h) const {
  if (!options_.locations) return torch::cat({z, h}, -1);
  return (z * z_deviation_ + z_mean_ - view_mean_) / view_deviation_;
}

void WorldModelImpl::freeze_view() {
  if (!options_.locations || view_frozen_.item<float>() > 0) return;
  torch::NoGradGuard no_grad;
  view_mean_.copy_(z_mean_);
  view_deviation_.copy_(z_deviation_);
  view_frozen_.fill_(1);
}

Tensor WorldModelImpl::places(const GraphBatch& batch, const Encoding& encoded) const {
  torch::NoGradGuard no_grad;
  const auto nodes = encoded.nodes.detach();
  const auto rest =
      link_sum(nodes, batch.rest_node, batch.rest_loc, batch.locations) * batch.rest_fraction.unsqueeze(1);
  const auto embedded = torch::linear(torch::cat({nodes.index_select(0, batch.loc_node), rest}, 1), place_map_);
  const auto known = spec_.location_features >= 2 ? batch.loc_feat.slice(1, 0, 2)
                                                  : torch::zeros({batch.locations, 2}, embedded.options());
  return torch::cat({embedded, known}, 1);
}

Memory WorldModelImpl::blank(int64_t graphs) const {
  const auto zeros = torch::zeros({graphs, options_.hidden}, z_mean_.options());
  return {zeros, zeros};
}

Tensor WorldModelImpl::features(const WorldInput& input) const {
  std::vector<Tensor> all = {input.z, input.counts.log1p(), torch::embedding(rule_table_, input.rule), input.location};
  if (options_.locations) {
    all.push_back(readable(input.place));
    all.push_back(input.overlap.log1p());
  }
  return torch::cat(all, -1);
}

void WorldModelImpl::counts_heads(const Tensor& h, const WorldInput& input, Prediction& p) {
  const auto lead = h.sizes().slice(0, static_cast<size_t>(h.dim() - 1));
  if (options_.counts == CountModel::log) {
    p.present = present_(h) + stay_ * ((input.counts > 0).to(h.scalar_type()) * 2 - 1);
    p.log_count = count_(h) + input.counts.log1p();
    return;
  }
  const int64_t x = spec_.rules, most = kMostChange;
  if (!options_.locations) {
    p.change = shaped(change_(h), lead, {x, 2 * most + 1});
    p.change.select(-1, most).add_(kPrior);
    return;
  }
  const auto overlap = input.overlap.clamp(0, static_cast<double>(most)).to(torch::kInt64);
  const auto logits = [&](Dense& head, const Tensor& by_rule, const Tensor& by_overlap) {
    const auto own = head(p.trunk) + kTableScale * torch::embedding(by_rule, input.rule);
    return shaped(own, lead, {x, by_overlap.size(1)}) + torch::embedding(by_overlap, overlap);
  };
  p.change = logits(change_, change_by_rule_, change_by_overlap_);
  p.gone = logits(gone_, gone_by_rule_, gone_by_overlap_);
}

// On the model's scale, [*, R].
Tensor WorldModelImpl::reward_head(const Tensor& h, const WorldInput& input, const Prediction& p) {
  const auto lead = h.sizes().slice(0, static_cast<size_t>(h.dim() - 1));
  const bool separate = options_.reward_model == RewardModel::separate;
  Tensor seen = h;
  if (options_.locations) {
    seen = separate ? p.trunk.detach() : p.trunk;
  } else if (separate) {
    seen = torch::cat(
        {h.detach(), input.z.detach(), torch::embedding(rule_table_, input.rule).detach(), input.location}, -1);
  }
  const auto hidden = shaped(torch::relu(reward_hidden_(seen)), lead, {options_.ensemble, kRewardWidth});
  const auto learned = (hidden * reward_out_->weight).sum(-1) + reward_out_->bias;
  if (!options_.locations) return learned;
  // What is known, the exact change of cost, comes first; what is learned is what differs from it.
  const auto saving = -input.place.select(-1, place_width() - 2);
  return learned + (own_saving_ * scale_reward(saving)).unsqueeze(-1);
}

Prediction WorldModelImpl::heads(const Tensor& h, const WorldInput& input) {
  const auto lead = h.sizes().slice(0, static_cast<size_t>(h.dim() - 1));
  const int64_t z = latent_width(), k = options_.mixtures, r = options_.ensemble;
  Prediction p;
  const auto parts = shaped(mixture_(h), lead, {3, z, k});
  // The mean is what changes: most dimensions of the latent move little in one rewrite.
  p.z = {parts.select(-3, 0), parts.select(-3, 1) + input.z.unsqueeze(-1),
         floored_log_sigma(parts.select(-3, 2), options_.sigma_floor)};
  // NO-OP ends an episode by contract (mdp::Action); the head has to learn only other ends.
  p.terminal = terminal_(h).squeeze(-1) + kNoOpEnds * (input.rule == spec_.rules).to(h.scalar_type());
  if (options_.locations) p.trunk = torch::relu(trunk_(torch::cat({h, features(input)}, -1)));
  counts_heads(h, input, p);
  if (options_.own_trunks) {
    const auto seen = torch::cat(
        {h.detach(), input.z.detach(), torch::embedding(rule_table_, input.rule).detach(), input.location}, -1);
    const auto hidden = shaped(torch::relu(members_hidden_(seen)), lead, {r, 1, kMemberWidth});
    p.members = (hidden * members_->weight.view({r, z, kMemberWidth})).sum(-1) + members_->bias.view({r, z}) +
                input.z.unsqueeze(-2);
  } else {
    p.members = shaped(members_(h), lead, {r, z}) + input.z.unsqueeze(-2);
  }
  p.reward = reward_head(h, input, p);
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

Tensor WorldModelImpl::counts_of(const Prediction& p, const Tensor& counts) const {
  if (options_.counts == CountModel::change) {
    return (counts + (p.change.argmax(-1) - kMostChange).to(counts.scalar_type())).clamp(0, spec_.max_locations);
  }
  const auto known = p.log_count.expm1().round().clamp(1, spec_.max_locations);
  return known.masked_fill(p.present <= 0, 0);
}

Tensor WorldModelImpl::come(const Tensor& trunk, const Tensor& rule, const Tensor& place) {
  const auto hidden = torch::relu(come_in_(trunk) + torch::embedding(come_table_, rule));
  const auto out = come_out_(hidden);  // [M, F]: embedding, gate and bias of the change of cost
  const int64_t width = options_.location_width;
  // A rewrite that undoes another costs what that saved: the change is a multiple of the action's own, and more.
  const auto delta = out.slice(1, width, width + 1) * place.slice(1, width, width + 1) + out.slice(1, width + 1);
  return torch::cat({out.slice(1, 0, width), delta, torch::zeros_like(delta)}, 1);
}

}  // namespace rlgo::nets

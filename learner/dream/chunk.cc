// The loss of a chunk of steps over the episodes of all learners, and the statistics that standardise it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/rng.h"
#include "core/nets/transfer.h"
#include "learner/dream/loss.h"
#include "learner/dream/trainer_parts.h"

namespace rlgo::learner {

using torch::Tensor;

namespace {

constexpr double kJointDecay = 0.9;  // of the statistics per batch, where the encoder moves

Tensor over_steps(const Tensor& x) { return x.sum(torch::IntArrayRef({0, 1})); }  // [T, B, Z] -> [Z]

}  // namespace

// Statistics of latents, of their changes, and of rewards, over the real steps of all learners.
void WorldTrainer::observe(Batch& batch) {
  torch::NoGradGuard no_grad;
  if (options_.train_encoder && !batch.own.empty()) {
    batch.raw = encode(batch.s, 0, batch.s.steps + 1, model_->encoder(), false);
    batch.raw_exact = batch.raw.to(torch::kCPU, torch::kFloat64);
  }
  const int64_t z = model_->latent_width();
  auto seen = torch::zeros({6 * z + 3}, torch::kFloat64);
  if (!batch.own.empty()) {
    const auto& s = batch.s;
    const auto mask = s.mask.to(torch::kFloat64), rows = mask.unsqueeze(-1), reward = s.reward.to(torch::kFloat64);
    const auto& exact = batch.raw_exact;
    const auto before = exact.slice(0, 0, s.steps), change = exact.slice(0, 1) - before;
    const auto moments = [&](const Tensor& x) {
      return torch::cat({mask.sum().expand({z}), over_steps(x * rows), over_steps(x.square() * rows)});
    };
    seen = torch::cat({moments(before), moments(change),
                       torch::stack({mask.sum(), (reward * mask).sum(), (reward.square() * mask).sum()})});
  }
  group_->sum({seen.data_ptr<double>(), static_cast<size_t>(seen.numel())});
  const double decay = options_.train_encoder ? kJointDecay : 1.0;
  z_sums_ = z_sums_ * decay + seen.slice(0, 0, 3 * z).view({3, z});
  change_sums_ = change_sums_ * decay + seen.slice(0, 3 * z, 6 * z).view({3, z});
  reward_sums_ = reward_sums_ + seen.slice(0, 6 * z);
  observe_ranges(batch);
  const auto mean = z_sums_[1] / z_sums_[0];
  model_->set_latent_statistics(mean, (z_sums_[2] / z_sums_[0] - mean.square()).clamp_min(0).sqrt());
  const double n = reward_sums_[0].item<double>(), reward_mean = reward_sums_[1].item<double>() / n;
  model_->set_reward_statistics(
      reward_mean, std::sqrt(std::max(reward_sums_[2].item<double>() / n - reward_mean * reward_mean, 0.0)));
}

// Ranges of raw latents and of the rewards of each rule, over the real steps of all learners and of all time.
void WorldTrainer::observe_ranges(const Batch& batch) {
  if (!model_->options().ranges) return;
  const int64_t z = model_->latent_width(), kinds = model_->spec().rules + 1;
  const double none = std::numeric_limits<double>::max();
  auto low = torch::full({z + kinds}, none, torch::kFloat64), high = -low;
  if (!batch.own.empty()) {
    const auto& s = batch.s;
    const auto real = s.mask.reshape(-1).nonzero().squeeze(1);
    const auto& raw = batch.raw_exact;
    const auto rule = s.rule.reshape(-1).index_select(0, real);
    const auto reward = s.reward.reshape(-1).index_select(0, real).to(torch::kFloat64);
    // What a step led to counts, too.
    const auto rows = torch::cat({raw.slice(0, 0, s.steps).reshape({-1, z}).index_select(0, real),
                                  raw.slice(0, 1).reshape({-1, z}).index_select(0, real)});
    low.slice(0, 0, z).copy_(rows.amin(0));
    high.slice(0, 0, z).copy_(rows.amax(0));
    low.slice(0, z).scatter_reduce_(0, rule, reward, "amin");
    high.slice(0, z).scatter_reduce_(0, rule, reward, "amax");
  }
  const auto own = torch::cat({low, -high}).contiguous();
  const auto all = group_->gather({own.data_ptr<double>(), static_cast<size_t>(own.numel())});
  const auto least = torch::tensor(all.values, torch::kFloat64).reshape({-1, 2, z + kinds}).amin(0);
  range_low_ = range_low_.minimum(least[0]);
  range_high_ = range_high_.maximum(-least[1]);
  model_->set_ranges(range_low_.slice(0, 0, z), range_high_.slice(0, 0, z), range_low_.slice(0, z).clamp(-1e30, 1e30),
                     range_high_.slice(0, z).clamp(-1e30, 1e30));
}

WorldTrainer::Latents WorldTrainer::latents(const Sequences& s, const Tensor& raw, int64_t begin, int64_t end) {
  Latents l;
  const bool joint = options_.train_encoder;
  l.raw = joint ? encode(s, begin, end + 1, model_->encoder(), true) : raw.slice(0, begin, end + 1);
  const auto input = model_->standardise(l.raw);
  l.input = input.slice(0, 0, end - begin);
  l.target = joint ? model_->standardise(encode(s, begin + 1, end + 1, target_, false)) : input.slice(0, 1);
  return l;
}

// A step counts for each member with probability 1/2 (bootstrap), where there are several: [T, own, R], on the host.
Tensor WorldTrainer::coins(const Batch& batch, int64_t begin, int64_t end, const Sums& sums) const {
  const int64_t members = model_->options().ensemble;
  if (members == 1) return torch::ones({end - begin, static_cast<int64_t>(batch.own.size()), 1});
  Rng rng({seed_, static_cast<uint64_t>(updates_), static_cast<uint64_t>(sums.chunks), 0xB007});
  auto all = torch::empty({end - begin, batch.episodes, members});
  for (int64_t i = 0; i < all.numel(); ++i) all.data_ptr<float>()[i] = rng.uniform() < 0.5 ? 1.0f : 0.0f;
  return all.index_select(1, torch::tensor(batch.columns, torch::kInt64));
}

WorldTrainer::Weights WorldTrainer::weights(const Batch& batch, const Latents& l, const Tensor& counts_for,
                                            int64_t begin, int64_t end) const {
  const bool joint = options_.train_encoder;
  const int64_t z = model_->latent_width();
  auto sizes = torch::zeros({4}, torch::kFloat64);
  Tensor moments;  // joint: sums of the raw latents and of their squares, where the model is
  if (joint) moments = torch::zeros({2, z}, torch::TensorOptions(model_->device()).dtype(torch::kFloat64));
  if (!batch.own.empty()) {
    const auto mask = batch.s.mask.slice(0, begin, end).to(torch::kFloat64);
    const auto legal = (batch.s.counts.slice(0, begin + 1, end + 1) > 0).to(torch::kFloat64);
    sizes[0] = mask.sum();
    sizes[1] = (counts_for.to(torch::kFloat64) * mask.unsqueeze(-1)).sum();
    sizes[2] = (legal * mask.unsqueeze(-1)).sum();
    if (batch.s.come_step.defined())
      sizes[3] = ((batch.s.come_step >= begin) & (batch.s.come_step < end)).sum().to(torch::kFloat64);
    if (joint) {
      const auto rows = l.raw.detach().slice(0, 0, end - begin).to(torch::kFloat64) *
                        batch.on_device.mask.slice(0, begin, end).to(torch::kFloat64).unsqueeze(-1);
      moments = torch::stack({over_steps(rows), over_steps(rows.square())});
    }
  }
  const auto own = sizes.clone();
  group_->sum({sizes.data_ptr<double>(), static_cast<size_t>(sizes.numel())});
  const auto weight = [&](int64_t i) {
    return std::max(own[i].item<double>(), 1.0) / std::max(sizes[i].item<double>(), 1.0);
  };
  Weights w{weight(0), weight(1), weight(2), weight(3), sizes[0].item<double>(), {}, {}};
  if (joint) group_->sum(moments);
  if (joint && w.rows > 1) {
    const auto mean = moments[0] / w.rows;
    w.mean = mean.to(type());
    w.variance = ((moments[1] - w.rows * mean.square()) / (w.rows - 1)).clamp_min(0).to(type());
  }
  return w;
}

WorldTrainer::CountLosses WorldTrainer::count_losses(const Batch& batch, int64_t begin, int64_t end,
                                                     const nets::Prediction& p, const nets::WorldInput& input,
                                                     const Weights& w) {
  const auto device = model_->device();
  const auto& s = batch.on_device;
  const auto mask = s.mask.slice(0, begin, end);
  const auto next = s.counts.slice(0, begin + 1, end + 1);
  const auto zero = torch::zeros({}, mask.options());
  if (model_->options().counts == nets::CountModel::log)
    return {w.step * present_loss(p.present, next, mask), w.count * count_loss(p.log_count, next, mask), zero, zero};
  constexpr int64_t kMost = nets::kMostChange;
  const auto change = (next - input.counts).to(torch::kInt64).clamp(-kMost, kMost) + kMost;
  CountLosses losses{zero, w.step * class_loss(p.change, change, mask), zero, zero};
  if (!model_->options().locations) return losses;
  losses.gone = w.step * class_loss(p.gone, s.gone.slice(0, begin, end).clamp(0, nets::kMostChange), mask);
  const auto& when = batch.s.come_step;  // on the host, where looking for it waits for nothing
  const auto here = nets::to_device(((when >= begin) & (when < end)).nonzero().squeeze(1), device);
  const auto step = s.come_step.index_select(0, here) - begin, row = s.come_row.index_select(0, here);
  const auto predicted =
      model_->come(p.trunk.index({step, row}), s.come_rule.index_select(0, here), input.place.index({step, row}));
  losses.come = w.come * come_loss(predicted, s.come.index_select(0, here));
  return losses;
}

// This learner's part of the loss of a chunk of steps; undefined where it has none. These add up to the loss.
Tensor WorldTrainer::own_loss(const Batch& batch, int64_t begin, int64_t end, nets::Memory& memory, Sums& sums) {
  if (batch.own.empty()) {
    weights(batch, {}, {}, begin, end);  // the others need the sums
    return {};
  }
  const auto& s = batch.on_device;
  const auto l = latents(s, batch.raw, begin, end);
  const auto mask = s.mask.slice(0, begin, end);
  const auto input = input_of(s, begin, end, l.input);
  const auto p = model_->sequence(input, memory);
  memory = {memory.h.detach(), memory.c.detach()};

  const auto& o = options_;
  const auto coins_here = coins(batch, begin, end, sums);
  const auto counts_for = nets::to_device(coins_here, model_->device(), type());
  const auto w = weights(batch, l, coins_here, begin, end);
  const auto reward_target = model_->scale_reward(s.reward.slice(0, begin, end));
  const auto latent = w.step * latent_loss(p.z, l.target, mask);
  const auto reward = w.member * reward_loss(p.reward, reward_target, counts_for, mask);
  const auto terminal =
      w.step * terminal_loss(p.terminal, s.terminal.slice(0, begin, end), mask, o.terminal_positive_weight);
  const auto [present, count, gone, come] = count_losses(batch, begin, end, p, input, w);
  const auto member = w.member * members_loss(p.members, l.target, counts_for, mask);
  auto loss = latent + o.reward_weight * reward + o.terminal_weight * terminal + o.present_weight * present +
              o.count_weight * (count + gone + come) + member;
  auto variance = torch::zeros({}, latent.options());
  auto reported = loss.detach();
  if (w.variance.defined()) {
    // relu(least - deviation) of all rows. Its gradient passes through this learner's part of their variance.
    const auto deviation = (w.variance + 1e-8).sqrt();
    const auto low = (deviation < kMinLatentDeviation).to(type());
    const auto slope = -low / (2 * deviation) / (kMinLatentDeviation * static_cast<double>(deviation.numel()));
    const auto own_variance =
        over_steps((l.raw.slice(0, 0, end - begin) - w.mean).square() * mask.unsqueeze(-1)) / (w.rows - 1);
    loss = loss + o.variance_weight * (slope * own_variance).sum();
    if (group_->place() == 0) variance = torch::relu(kMinLatentDeviation - deviation).mean() / kMinLatentDeviation;
    reported = reported + o.variance_weight * variance;
  }
  sums.parts += torch::stack({reported, latent, reward, terminal, present, count, member, variance, gone, come})
                    .detach()
                    .to(torch::kFloat64);  // in the order in which end() reads them
  return loss;
}

}  // namespace rlgo::learner

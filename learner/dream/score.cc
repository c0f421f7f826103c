// How well the world model predicts.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/nets/transfer.h"
#include "learner/dream/loss.h"
#include "learner/dream/trainer.h"

namespace rlgo::learner {

using torch::Tensor;

double f1(double hits, double found, double wanted) { return found + wanted == 0 ? 1.0 : 2 * hits / (found + wanted); }

double correlation(const Tensor& a, const Tensor& b) {
  if (a.numel() < 2) return 0;
  const auto x = a.to(torch::kFloat64) - a.to(torch::kFloat64).mean(),
             y = b.to(torch::kFloat64) - b.to(torch::kFloat64).mean();
  const double scale = std::sqrt((x.square().sum() * y.square().sum()).item<double>());
  return scale > 1e-300 ? (x * y).sum().item<double>() / scale : 0;
}

namespace {

// [*] percent: mean over the ensemble.
Tensor predicted_reward(const nets::WorldModelImpl& model, const nets::Prediction& p, const Tensor& rule,
                        WorldTrainer::Clips clips) {
  const auto reward = model.reward_units(p.reward).mean(-1);
  return clips.reward ? model.clip_reward(reward, rule) : reward;
}

}  // namespace

WorldScore WorldTrainer::score(std::span<const mdp::Trajectory* const> trajectories, Clips clips) {
  WorldScore score;
  for (auto* part : {&score.drift, &score.drift_reward, &score.exact})
    std::ranges::fill(*part, std::numeric_limits<double>::quiet_NaN());
  if (trajectories.empty()) return score;
  torch::NoGradGuard no_grad;
  model_->eval();
  const auto device = model_->device();
  const auto s = on_device(sequences(trajectories, model_->options().locations ? look(trajectories) : Views()), device,
                           torch::kFloat32);
  const auto z = model_->standardise(encode(s, 0, s.steps + 1, model_->encoder(), false));
  const auto input = z.slice(0, 0, s.steps), target = z.slice(0, 1);
  const auto &mask = s.mask, &counts = s.counts;
  const auto next = counts.slice(0, 1);
  auto memory = model_->blank(s.episodes);
  const auto p = model_->sequence(input_of(s, 0, s.steps, input), memory);
  score.steps = static_cast<int64_t>(mask.sum().item<double>());
  score.nll = latent_loss(p.z, target, mask).item<double>();
  constexpr double kHalfLogTwoPi = 0.9189385332046727;
  // Change of the standardised latent: mean 0, deviation as seen in training.
  const auto spread = (z_sums_[2] / z_sums_[0] - (z_sums_[1] / z_sums_[0]).square()).clamp_min(1e-8);
  const auto moved = nets::to_device((change_sums_[2] / change_sums_[0]) / spread, device, torch::kFloat32)
                         .sqrt()
                         .clamp_min(model_->options().sigma_floor);
  const auto no_change = -0.5 * ((target - input) / moved).square() - moved.log() - kHalfLogTwoPi;
  score.nll_no_change = -masked_mean(no_change.mean(-1), mask).item<double>();
  score.nll_unconditional = masked_mean((0.5 * target.square() + kHalfLogTwoPi).mean(-1), mask).item<double>();

  const auto real = mask.reshape(-1).nonzero().squeeze(1);
  const auto pick = [&](const Tensor& t) { return t.reshape(-1).index_select(0, real); };
  const auto reward = pick(s.reward), predicted = pick(predicted_reward(*model_, p, s.rule, clips));
  score.reward_mse = (reward - predicted).square().mean().item<double>();
  score.reward_correlation = correlation(reward, predicted);
  const auto ends = pick(s.terminal) > 0.5, ends_predicted = pick(p.terminal) > 0;
  const auto number = [](const Tensor& t) { return t.sum().item<double>(); };
  score.terminal_f1 = f1(number(ends & ends_predicted), number(ends_predicted), number(ends));
  const auto rows = mask.unsqueeze(-1) > 0;
  const auto counts_predicted = model_->counts_of(p, counts.slice(0, 0, s.steps));
  const auto legal = (next > 0) & rows, legal_predicted = (counts_predicted > 0) & rows;
  score.mask_f1 = f1(number(legal & legal_predicted), number(legal_predicted), number(legal));
  score.counts_exact = number((counts_predicted == next) & legal) / std::max(number(legal), 1.0);
  drift(s, z, clips, score);
  return score;
}

void WorldTrainer::drift(const Sequences& s, const Tensor& z, Clips clips, WorldScore& score) {
  auto memory = model_->blank(s.episodes);
  auto at = z[0], counts = s.counts[0];
  auto error = torch::zeros({s.episodes}, at.options());
  size_t h = 0;
  for (int64_t t = 0; t < s.steps && h < WorldScore::kReach; ++t) {
    auto input = input_of(s, t, t + 1, at.unsqueeze(0));
    for (auto* part : {&input.z, &input.counts, &input.rule, &input.location, &input.place, &input.overlap}) {
      if (part->defined()) *part = part->squeeze(0);
    }
    input.counts = counts;
    const auto p = model_->step(input, memory);
    at = nets::sample(p.z, {}, {}, 0, false);
    if (clips.latent) at = model_->clip_latent(at);
    counts = model_->counts_of(p, counts);
    error = error + predicted_reward(*model_, p, input.rule, clips) - s.reward[t];
    if (t + 1 != WorldScore::kHorizons[h]) continue;
    const auto real = s.mask[t];
    if (real.sum().item<double>() > 0) {
      score.drift[h] = std::sqrt(masked_mean((at - z[t + 1]).square().mean(-1), real).item<double>());
      score.drift_reward[h] = std::sqrt(masked_mean(error.square(), real).item<double>());
      const auto truth = s.counts[t + 1];
      const auto legal = (truth > 0) & (real.unsqueeze(-1) > 0);
      score.exact[h] = ((counts == truth) & legal).sum().item<double>() / std::max(legal.sum().item<double>(), 1.0);
    }
    ++h;
  }
}

std::vector<std::pair<std::string, double>> WorldStats::named() const {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const bool scored = score.steps > 0;
  const auto held = [&](double value) { return scored ? value : unknown; };
  std::vector<std::pair<std::string, double>> out = {{"wm_steps", static_cast<double>(steps)},
                                                     {"wm_held_out", static_cast<double>(held_out)},
                                                     {"wm_skipped", static_cast<double>(skipped)},
                                                     {"wm_loss", loss},
                                                     {"wm_latent_loss", latent},
                                                     {"wm_reward_loss", reward},
                                                     {"wm_terminal_loss", terminal},
                                                     {"wm_present_loss", present},
                                                     {"wm_count_loss", count},
                                                     {"wm_gone_loss", gone},
                                                     {"wm_come_loss", come},
                                                     {"wm_members_loss", members},
                                                     {"wm_variance_loss", variance},
                                                     {"wm_grad_norm", grad_norm},
                                                     {"wm_learning_rate", learning_rate},
                                                     {"wm_latent_deviation", latent_deviation},
                                                     {"wm_nll", held(score.nll)},
                                                     {"wm_nll_no_change", held(score.nll_no_change)},
                                                     {"wm_nll_unconditional", held(score.nll_unconditional)},
                                                     {"wm_reward_mse", held(score.reward_mse)},
                                                     {"wm_reward_correlation", held(score.reward_correlation)},
                                                     {"wm_terminal_f1", held(score.terminal_f1)},
                                                     {"wm_mask_f1", held(score.mask_f1)},
                                                     {"wm_counts_exact", held(score.counts_exact)}};
  for (size_t i = 0; i < std::size(WorldScore::kHorizons); ++i) {
    out.emplace_back(fmt::format("wm_drift_{}", WorldScore::kHorizons[i]), held(score.drift[i]));
    out.emplace_back(fmt::format("wm_drift_reward_{}", WorldScore::kHorizons[i]), held(score.drift_reward[i]));
    out.emplace_back(fmt::format("wm_exact_{}", WorldScore::kHorizons[i]), held(score.exact[i]));
  }
  return out;
}

}  // namespace rlgo::learner

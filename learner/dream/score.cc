// How well the world model foretells.
#include <cmath>
#include <limits>

#include "core/base/error.h"
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

WorldScore WorldTrainer::score(std::span<const mdp::Trajectory* const> trajectories) {
  WorldScore score;
  for (double& d : score.drift) d = std::numeric_limits<double>::quiet_NaN();
  for (double& d : score.drift_reward) d = std::numeric_limits<double>::quiet_NaN();
  if (trajectories.empty()) return score;
  torch::NoGradGuard no_grad;
  model_->eval();
  const auto s = make_sequences(trajectories, model_->spec());
  const auto device = model_->device();
  const auto z = model_->standardise(encode(s, 0, s.steps + 1, model_->encoder(), false));
  const auto input = z.slice(0, 0, s.steps), target = z.slice(0, 1);
  const auto mask = s.mask.to(device), counts = s.counts.to(device);
  const auto next = counts.slice(0, 1);
  auto memory = model_->blank(s.episodes);
  const auto p =
      model_->sequence({input, counts.slice(0, 0, s.steps), s.rule.to(device), s.location.to(device)}, memory);
  score.steps = static_cast<int64_t>(mask.sum().item<double>());
  score.nll = latent_loss(p.z, target, mask).item<double>();
  constexpr double kHalfLogTwoPi = 0.9189385332046727;
  // Change of the standardised latent: mean 0, deviation as seen in training.
  const auto spread = (z_sums_[2] / z_sums_[0] - (z_sums_[1] / z_sums_[0]).square()).clamp_min(1e-8);
  const auto moved = ((change_sums_[2] / change_sums_[0]) / spread)
                         .to(torch::kFloat32)
                         .to(device)
                         .sqrt()
                         .clamp_min(model_->options().sigma_floor);
  const auto no_change = -0.5 * ((target - input) / moved).square() - moved.log() - kHalfLogTwoPi;
  score.nll_no_change = -masked_mean(no_change.mean(-1), mask).item<double>();
  score.nll_unconditional = masked_mean((0.5 * target.square() + kHalfLogTwoPi).mean(-1), mask).item<double>();

  const auto real = mask.reshape(-1).nonzero().squeeze(1);
  const auto pick = [&](const Tensor& t) { return t.reshape(-1).index_select(0, real); };
  const auto reward = pick(s.reward.to(device)), foretold = pick(model_->reward_units(p.reward.mean(-1)));
  score.reward_mse = (reward - foretold).square().mean().item<double>();
  score.reward_correlation = correlation(reward, foretold);
  const auto ends = pick(s.terminal.to(device)) > 0.5, ends_foretold = pick(p.terminal) > 0;
  const auto number = [](const Tensor& t) { return t.sum().item<double>(); };
  score.terminal_f1 = f1(number(ends & ends_foretold), number(ends_foretold), number(ends));
  const auto rows = mask.unsqueeze(-1) > 0;
  const auto legal = (next > 0) & rows, legal_foretold = (p.present > 0) & rows;
  score.mask_f1 = f1(number(legal & legal_foretold), number(legal_foretold), number(legal));
  score.counts_exact = number((model_->counts_of(p) == next) & legal) / std::max(number(legal), 1.0);
  drift(s, z, score);
  return score;
}

void WorldTrainer::drift(const Sequences& s, const Tensor& z, WorldScore& score) {
  const auto device = model_->device();
  auto memory = model_->blank(s.episodes);
  auto at = z[0], counts = s.counts[0].to(device);
  auto error = torch::zeros({s.episodes}, at.options());
  size_t h = 0;
  for (int64_t t = 0; t < s.steps && h < std::size(WorldScore::kHorizons); ++t) {
    const auto p = model_->step({at, counts, s.rule[t].to(device), s.location[t].to(device)}, memory);
    at = nets::sample(p.z, {}, {}, 0, false);
    counts = model_->counts_of(p);
    error = error + model_->reward_units(p.reward.mean(-1)) - s.reward[t].to(device);
    if (t + 1 != WorldScore::kHorizons[h]) continue;
    const auto real = s.mask[t].to(device);
    const double episodes = real.sum().item<double>();
    if (episodes > 0) {
      score.drift[h] = std::sqrt(masked_mean((at - z[t + 1]).square().mean(-1), real).item<double>());
      score.drift_reward[h] = std::sqrt(masked_mean(error.square(), real).item<double>());
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
  }
  return out;
}

}  // namespace rlgo::learner

#include "learner/ppo/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "learner/ppo/gae.h"
#include "learner/ppo/loss.h"
#include "learner/ppo/trainer_parts.h"

namespace rlgo::learner {
namespace {

using torch::Tensor;

constexpr double kReturnDecay = 0.95;          // of the running moments of returns, per update
constexpr double kMinValueScale = 0.1;         // percent of the initial cost
constexpr double kFreshRatioTolerance = 0.01;  // far above rounding, far below a wrong mask

// [0, count) in segments of `length` that stand in a random order.
std::vector<int64_t> shuffled(int64_t count, int64_t length, Rng& shuffle) {
  std::vector<int64_t> segments, order;
  for (int64_t first = 0; first < count; first += length) segments.push_back(first);
  for (size_t i = segments.size(); i > 1; --i) std::swap(segments[i - 1], segments[shuffle.below(i)]);
  for (const int64_t first : segments) {
    for (int64_t i = first; i < std::min(first + length, count); ++i) order.push_back(i);
  }
  return order;
}

}  // namespace

std::vector<std::pair<std::string, double>> UpdateStats::named() const {
  return {{"transitions", static_cast<double>(transitions)},
          {"minibatches", static_cast<double>(minibatches)},
          {"skipped", static_cast<double>(skipped)},
          {"early_stop", early_stop ? 1.0 : 0.0},
          {"policy_loss", policy_loss},
          {"value_loss", value_loss},
          {"location_value_loss", location_value_loss},
          {"entropy_xfer", entropy_rule},
          {"entropy_location", entropy_location},
          {"approx_kl", approx_kl},
          {"last_kl", last_kl},
          {"clip_fraction", clip_fraction},
          {"grad_norm", grad_norm},
          {"ratio_deviation", ratio_deviation},
          {"explained_variance", explained_variance},
          {"return_mean", return_mean},
          {"advantage_deviation", advantage_deviation},
          {"value_shift", value_shift},
          {"value_scale", value_scale},
          {"learning_rate", learning_rate}};
}

PpoTrainer::PpoTrainer(nets::Agent agent, PpoOptions options)
    : agent_(std::move(agent)),
      options_((check(options), options)),
      adam_(agent_->parameters(), torch::optim::AdamOptions(options.learning_rate).eps(options.adam_epsilon)) {
  set_group(std::make_shared<LearnerGroup>());
}

void PpoTrainer::set_group(std::shared_ptr<LearnerGroup> group) {
  group_ = std::move(group);
  gradients_.reset();  // its hooks go first
  gradients_ = std::make_unique<GradientSum>(agent_->parameters(), group_);
}

void PpoTrainer::find_advantages(Transitions& data, const std::vector<mdp::Trajectory>& trajectories) const {
  std::vector<float> advantages, returns;
  for (const auto& trajectory : trajectories) {
    const auto found = gae(trajectory, options_.gamma, options_.lambda);
    advantages.insert(advantages.end(), found.advantages.begin(), found.advantages.end());
    returns.insert(returns.end(), found.returns.begin(), found.returns.end());
  }
  data.advantage = torch::tensor(advantages, torch::kFloat32);
  data.returns = torch::tensor(returns, torch::kFloat32);
}

// Means and deviations over the transitions of all learners; the advantages are normalised by theirs.
void PpoTrainer::share(Transitions& data) const {
  const auto own = static_cast<double>(data.count());
  const auto counts = group_->gather({&own, 1}).values;
  data.total = static_cast<int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
  data.first = static_cast<int64_t>(std::accumulate(counts.begin(), counts.begin() + group_->place(), 0.0));
  if (data.total == 0) return;
  const Tensor exact[] = {data.advantage.to(torch::kFloat64), data.returns.to(torch::kFloat64),
                          (data.returns - data.old_value_rule).to(torch::kFloat64)};
  std::vector<double> mean, variance;
  for (const auto& x : exact) mean.push_back(x.sum().item<double>());
  group_->sum(mean);
  for (double& m : mean) m /= static_cast<double>(data.total);
  for (size_t i = 0; i < mean.size(); ++i) variance.push_back((exact[i] - mean[i]).square().sum().item<double>());
  group_->sum(variance);
  for (double& v : variance) v /= static_cast<double>(data.total);
  data.advantage_deviation = std::sqrt(variance[0]);
  data.return_mean = mean[1];
  data.return_deviation = std::sqrt(variance[1]);
  data.explained_variance = variance[1] > 1e-12 * mean[1] * mean[1] ? 1 - variance[2] / variance[1]
                                                                    : std::numeric_limits<double>::quiet_NaN();
  if (options_.normalize_advantages) data.advantage = (data.advantage - mean[0]) / (data.advantage_deviation + 1e-8);
}

void PpoTrainer::update_value_scale(const Transitions& data) {
  if (!options_.normalize_returns) return;
  const double square = data.return_deviation * data.return_deviation + data.return_mean * data.return_mean;
  return_mean_ = kReturnDecay * return_mean_ + (1 - kReturnDecay) * data.return_mean;
  return_square_ = kReturnDecay * return_square_ + (1 - kReturnDecay) * square;
  return_weight_ = kReturnDecay * return_weight_ + (1 - kReturnDecay);
  const double mean = return_mean_ / return_weight_;
  const double variance = return_square_ / return_weight_ - mean * mean;
  scale_ = agent_->rescale_values(mean, std::max(std::sqrt(std::max(variance, 0.0)), kMinValueScale));
}

// What the policy and the critic think of the actions now. Data that was made with these weights reports so itself.
void PpoTrainer::find_proximal(Transitions& data, const std::function<void()>& between) {
  const auto stale = [&](int64_t version) { return !version_ || version != *version_; };
  if (std::ranges::any_of(data.versions, stale)) {
    const torch::NoGradGuard no_gradients;
    std::vector<Tensor> log_probs;
    std::vector<std::vector<int64_t>> parts;
    for (int64_t begin = 0; begin < data.count(); begin += options_.minibatch) {
      auto& chosen =
          parts.emplace_back(static_cast<size_t>(std::min<int64_t>(options_.minibatch, data.count() - begin)));
      std::iota(chosen.begin(), chosen.end(), begin);
    }
    const size_t count = parts.size();
    Pass pass(data, *agent_, std::move(parts), between);
    for (size_t part = 0; part < count; ++part) {
      const auto m = pass.next();
      const auto e = agent_->evaluate(m.batch, m.actions);
      log_probs.push_back(e.log_prob());
      if (between) between();
    }
    data.proximal_log_prob = torch::cat(log_probs).to(torch::kFloat32);
  }
}

void PpoTrainer::check_fresh(const Transitions& data, std::span<const int64_t> chosen, double deviation) const {
  if (!version_ || deviation <= kFreshRatioTolerance) return;
  const bool fresh = std::all_of(chosen.begin(), chosen.end(),
                                 [&](int64_t i) { return data.versions[static_cast<size_t>(i)] == *version_; });
  if (fresh)
    fail(
        "ppo: data of the current weights (version {}) has ratios up to {} away from 1: actor and learner disagree on "
        "the policy",
        *version_, deviation);
}

void PpoTrainer::step(Sums& sums) {
  const double norm = gradients_->finish(options_.max_grad_norm);
  if (!std::isfinite(norm)) {
    ++sums.stats.skipped;
    return;
  }
  fused_step(adam_);
  sums.stats.grad_norm += norm;
  ++sums.steps;
}

PpoTrainer::Minibatch PpoTrainer::evaluate(const LossInputs& inputs, Pass& pass, int64_t size, bool first) {
  Minibatch result;
  const auto m = pass.next();
  const auto chosen = m.chosen;
  if (chosen.empty()) {
    result.parts = torch::zeros({Minibatch::kParts}, torch::TensorOptions(agent_->device()).dtype(torch::kFloat64));
    return result;
  }
  const auto e = agent_->evaluate(m.batch, m.actions);
  const auto in = inputs.at(m.index);

  const auto log_ratio = e.log_prob() - in.proximal_log_prob();
  if (first) {
    const auto since_acting = e.log_prob().detach() - in.old_log_prob();
    result.deviation = since_acting.expm1().abs().amax();
  }
  const auto target = in.returns() / scale_;
  const auto policy = policy_loss(log_ratio, in.weighted_advantage(), options_.clip);
  const auto value = value_loss(e.value_rule / scale_, in.old_value_rule() / scale_, target, options_.value_clip);
  const auto location_value =
      value_loss(e.value_location / scale_, in.old_value_location() / scale_, target, options_.value_clip);
  const double fraction = static_cast<double>(chosen.size()) / static_cast<double>(size);
  result.loss =
      fraction * (policy + options_.value_weight * (value + location_value) - options_.entropy * e.entropy().mean());
  const auto ratio = log_ratio.detach();
  result.parts = torch::stack({policy.detach(), value.detach(), location_value.detach(), e.entropy_rule.detach().mean(),
                               e.entropy_location.detach().mean(), approx_kl(ratio),
                               clip_fraction(ratio, options_.clip).to(ratio.scalar_type())})
                     .to(torch::kFloat64) *
                 fraction;
  return result;
}

bool PpoTrainer::train(const Transitions& data, const LossInputs& inputs, Pass& pass, int64_t size, bool first,
                       Sums& sums) {
  auto m = evaluate(inputs, pass, size, first);
  if (sums.there) {
    train_there(m, first, *sums.there);
    return true;
  }
  const auto parts = m.parts.to(torch::kCPU);
  const std::span<double> sum(parts.data_ptr<double>(), Minibatch::kParts);
  auto& stats = sums.stats;
  if (first) {
    if (m.deviation.defined()) stats.ratio_deviation = m.deviation.item<double>();
    check_fresh(data, sums.first_chosen, stats.ratio_deviation);
  }
  group_->sum(sum);
  if (first) stats.ratio_deviation = group_->max(stats.ratio_deviation);
  stats.last_kl = sum[Minibatch::kl];
  if (!first && options_.target_kl > 0 && stats.last_kl > options_.target_kl) return false;

  gradients_->begin();
  if (m.loss.defined()) m.loss.backward();
  step(sums);

  stats.policy_loss += sum[Minibatch::policy];
  stats.value_loss += sum[Minibatch::value];
  stats.location_value_loss += sum[Minibatch::location_value];
  stats.entropy_rule += sum[Minibatch::entropy_rule];
  stats.entropy_location += sum[Minibatch::entropy_location];
  stats.approx_kl += stats.last_kl;
  stats.clip_fraction += sum[Minibatch::clipped];
  ++stats.minibatches;
  return true;
}

std::vector<std::vector<int64_t>> PpoTrainer::own_parts(const Transitions& data,
                                                        const std::vector<int64_t>& order) const {
  const int64_t count = data.total, end_of_own = data.first + data.count();
  const int64_t parts = (count + options_.minibatch - 1) / options_.minibatch;  // of nearly equal size
  std::vector<std::vector<int64_t>> own(static_cast<size_t>(parts));
  for (int64_t part = 0; part < parts; ++part) {
    for (int64_t i = part * count / parts; i < (part + 1) * count / parts; ++i) {
      const int64_t at = order[static_cast<size_t>(i)];
      if (at >= data.first && at < end_of_own) own[static_cast<size_t>(part)].push_back(at - data.first);
    }
  }
  return own;
}

// Means over the minibatches, and what is known of the data.
void PpoTrainer::end(const Transitions& data, Sums& sums) const {
  auto& stats = sums.stats;
  if (sums.steps == 0) {
    fail(
        "ppo: the gradients of all {} minibatches were not finite (policy loss {}, value loss {}); the weights are "
        "unchanged",
        stats.minibatches, stats.policy_loss, stats.value_loss);
  }
  const auto n = static_cast<double>(stats.minibatches);
  for (double* sum : {&stats.policy_loss, &stats.value_loss, &stats.location_value_loss, &stats.entropy_rule,
                      &stats.entropy_location, &stats.approx_kl, &stats.clip_fraction}) {
    *sum /= n;
  }
  stats.grad_norm /= static_cast<double>(sums.steps);
  stats.transitions = data.total;
  stats.explained_variance = data.explained_variance;
  stats.return_mean = data.return_mean;
  stats.advantage_deviation = data.advantage_deviation;
  if (!sums.there) {
    stats.value_shift = agent_->value_shift();
    stats.value_scale = agent_->value_scale();
  }
  stats.learning_rate = static_cast<const torch::optim::AdamOptions&>(adam_.param_groups()[0].options()).lr();
}

UpdateStats PpoTrainer::update(const std::vector<mdp::Trajectory>& trajectories, Rng& shuffle,
                               const std::function<void()>& between) {
  auto data = flatten(trajectories, *agent_, options_.distinct_rows, between);
  if (!agent_->device().is_cpu()) join_whole(data, *agent_);
  find_proximal(data, between);
  find_advantages(data, trajectories);
  share(data);
  const int64_t count = data.total;
  if (count == 0) return {};
  update_value_scale(data);
  const LossInputs inputs(data, agent_->device(), agent_->parameters()[0].scalar_type());

  Sums sums;
  auto& stats = sums.stats;
  const auto begin_pass = [&] {
    return std::make_unique<Pass>(
        data, *agent_, own_parts(data, shuffled(count, data.table ? options_.segment : 1, shuffle)), between);
  };
  if (gradients_->decides_there()) sums.there = start_there();
  auto pass = begin_pass();
  sums.first_chosen = pass->part(0);
  for (int epoch = 0; epoch < options_.epochs && !stats.early_stop; ++epoch) {
    if (!pass) pass = begin_pass();
    const int64_t parts = pass->size();
    for (int64_t part = 0; part < parts && !stats.early_stop; ++part) {
      const int64_t size = (part + 1) * count / parts - part * count / parts;
      stats.early_stop = !train(data, inputs, *pass, size, epoch == 0 && part == 0, sums);
      if (between) between();
    }
    pass.reset();
    if (!sums.there) continue;
    if (epoch + 1 < options_.epochs) pass = begin_pass();  // is joined while this one is computed
    read(*sums.there, epoch == 0, sums);
    if (epoch == 0) {
      check_fresh(data, sums.first_chosen, stats.ratio_deviation);
      stats.ratio_deviation = group_->max(stats.ratio_deviation);
    }
  }
  end(data, sums);
  return stats;
}

}  // namespace rlgo::learner

#include "learner/ppo/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/nets/batch.h"
#include "learner/ppo/gae.h"
#include "learner/ppo/loss.h"

namespace rlgo::learner {
namespace {

using torch::Tensor;

constexpr double kReturnDecay = 0.95;          // of the running moments of returns, per update
constexpr double kMinValueScale = 0.1;         // percent of the initial cost
constexpr double kFreshRatioTolerance = 0.01;  // far above rounding, far below a wrong mask

void bound(const char* name, double value, double low, double high) {
  if (!(value >= low && value <= high)) fail("ppo: {} is {}, outside [{}, {}]", name, value, low, high);
}

Tensor floats(const std::vector<float>& values) { return torch::tensor(values, torch::kFloat32); }

// One checked step: everything that is multiplied into the loss must be a number.
void check_step(const mdp::Step& step, const mdp::Trajectory& trajectory, size_t t) {
  for (const float value :
       {step.reward, step.log_prob_xfer, step.log_prob_location, step.value_xfer, step.value_location}) {
    if (!std::isfinite(value))
      fail("ppo: step {} of episode {} of rank {} has a number that is not finite", t, trajectory.episode,
           trajectory.rank);
  }
}

std::vector<Tensor> with_gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> grads;
  for (auto parameter : parameters) {
    if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    grads.push_back(parameter.grad());
  }
  return grads;
}

}  // namespace

void check(const PpoOptions& o) {
  bound("gamma", o.gamma, 1e-6, 1);
  bound("lambda", o.lambda, 0, 1);
  bound("clip", o.clip, 1e-6, 1);
  bound("learning rate", o.learning_rate, 1e-12, 1);
  bound("adam epsilon", o.adam_epsilon, 1e-12, 1);
  bound("epochs", o.epochs, 1, 1000);
  bound("minibatch", o.minibatch, 1, 1e6);
  bound("entropy weight", o.entropy, 0, 100);
  bound("value weight", o.value_weight, 0, 100);
  bound("value clip", o.value_clip, 0, 1e6);
  bound("max grad norm", o.max_grad_norm, 0, 1e6);
  bound("target kl", o.target_kl, 0, 1e6);
}

// All transitions of an update, one after the other.
struct PpoTrainer::Data {
  std::vector<const mdp::Observation*> observations;
  std::vector<mdp::Action> actions;
  std::vector<int64_t> versions;
  std::vector<float> old_log_prob, old_value_xfer, old_value_location, advantage, returns;
  Tensor old_log_prob_t, old_value_xfer_t, old_value_location_t, advantage_t, returns_t;  // [T]
  double advantage_deviation = 0;
};

struct PpoTrainer::Sums {
  UpdateStats stats;
  int64_t steps = 0;  // minibatches that gave a gradient step
};

std::vector<std::pair<std::string, double>> UpdateStats::named() const {
  return {{"transitions", static_cast<double>(transitions)},
          {"minibatches", static_cast<double>(minibatches)},
          {"skipped", static_cast<double>(skipped)},
          {"early_stop", early_stop ? 1.0 : 0.0},
          {"policy_loss", policy_loss},
          {"value_loss", value_loss},
          {"location_value_loss", location_value_loss},
          {"entropy_xfer", entropy_xfer},
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
      adam_(agent_->parameters(), torch::optim::AdamOptions(options.learning_rate).eps(options.adam_epsilon)) {}

void PpoTrainer::set_progress(double done) {
  if (!options_.anneal) return;
  const double rate = options_.learning_rate * (1.0 - std::clamp(done, 0.0, 1.0));
  static_cast<torch::optim::AdamOptions&>(adam_.param_groups()[0].options()).lr(rate);
}

PpoTrainer::Data PpoTrainer::flatten(const std::vector<mdp::Trajectory>& trajectories) const {
  Data data;
  const auto spec_hash = agent_->spec().hash();
  for (const auto& trajectory : trajectories) {
    if (trajectory.spec_hash != spec_hash) {
      fail("ppo: episode {} of rank {} comes from another environment (spec {:#x}, the network has {:#x})",
           trajectory.episode, trajectory.rank, trajectory.spec_hash, spec_hash);
    }
    if (!trajectory.terminal && !std::isfinite(trajectory.last_value_xfer)) {
      fail("ppo: the last value of episode {} of rank {} is not finite", trajectory.episode, trajectory.rank);
    }
    for (size_t t = 0; t < trajectory.steps.size(); ++t) {
      const auto& step = trajectory.steps[t];
      check_step(step, trajectory, t);
      data.observations.push_back(&step.observation);
      data.actions.push_back(step.action);
      data.versions.push_back(trajectory.weights_version);
      data.old_log_prob.push_back(step.log_prob_xfer + step.log_prob_location);
      data.old_value_xfer.push_back(step.value_xfer);
      data.old_value_location.push_back(step.value_location);
    }
    const auto [advantages, returns] = gae(trajectory, options_.gamma, options_.lambda);
    data.advantage.insert(data.advantage.end(), advantages.begin(), advantages.end());
    data.returns.insert(data.returns.end(), returns.begin(), returns.end());
  }
  if (data.actions.empty()) return data;
  data.old_log_prob_t = floats(data.old_log_prob);
  data.old_value_xfer_t = floats(data.old_value_xfer);
  data.old_value_location_t = floats(data.old_value_location);
  data.returns_t = floats(data.returns);
  data.advantage_t = floats(data.advantage);
  data.advantage_deviation = data.advantage_t.std(/*unbiased=*/false).item<double>();
  if (options_.normalize_advantages)
    data.advantage_t = (data.advantage_t - data.advantage_t.mean()) / (data.advantage_deviation + 1e-8);
  return data;
}

void PpoTrainer::update_value_scale(const Tensor& returns) {
  if (!options_.normalize_returns) return;
  const auto exact = returns.to(torch::kFloat64);
  return_mean_ = kReturnDecay * return_mean_ + (1 - kReturnDecay) * exact.mean().item<double>();
  return_square_ = kReturnDecay * return_square_ + (1 - kReturnDecay) * exact.square().mean().item<double>();
  return_weight_ = kReturnDecay * return_weight_ + (1 - kReturnDecay);
  const double mean = return_mean_ / return_weight_;
  const double variance = return_square_ / return_weight_ - mean * mean;
  agent_->rescale_values(mean, std::max(std::sqrt(std::max(variance, 0.0)), kMinValueScale));
}

void PpoTrainer::check_fresh(const Data& data, std::span<const int64_t> chosen, double deviation) const {
  if (!version_ || deviation <= kFreshRatioTolerance) return;
  const bool fresh = std::all_of(chosen.begin(), chosen.end(),
                                 [&](int64_t i) { return data.versions[static_cast<size_t>(i)] == *version_; });
  if (fresh)
    fail(
        "ppo: data of the current weights (version {}) has ratios up to {} away from 1: actor and learner disagree on "
        "the policy",
        *version_, deviation);
}

void PpoTrainer::step(int64_t samples, Sums& sums) {
  auto parameters = agent_->parameters();
  auto grads = with_gradients(parameters);
  if (all_reduce_) {
    all_reduce_(grads, samples);
    for (size_t i = 0; i < grads.size(); ++i) parameters[i].mutable_grad() = grads[i];
  }
  const double limit = options_.max_grad_norm > 0 ? options_.max_grad_norm : std::numeric_limits<double>::infinity();
  const double norm = torch::nn::utils::clip_grad_norm_(parameters, limit);
  if (!std::isfinite(norm)) {
    ++sums.stats.skipped;
    return;
  }
  adam_.step();
  sums.stats.grad_norm += norm;
  ++sums.steps;
}

bool PpoTrainer::train(const Data& data, std::span<const int64_t> chosen, bool first, Sums& sums) {
  std::vector<const mdp::Observation*> observations;
  std::vector<mdp::Action> actions;
  for (const int64_t i : chosen) {
    observations.push_back(data.observations[static_cast<size_t>(i)]);
    actions.push_back(data.actions[static_cast<size_t>(i)]);
  }
  const auto device = agent_->device();
  const auto index = torch::tensor(std::vector<int64_t>(chosen.begin(), chosen.end()), torch::kInt64);
  const auto pick = [&](const Tensor& all) { return all.index_select(0, index).to(device); };
  const auto e = agent_->evaluate(nets::collate(observations, agent_->spec(), device), actions);

  const auto log_ratio = e.log_prob() - pick(data.old_log_prob_t);
  auto& stats = sums.stats;
  if (first) {
    stats.ratio_deviation = log_ratio.detach().expm1().abs().max().item<double>();
    check_fresh(data, chosen, stats.ratio_deviation);
  }
  stats.last_kl = approx_kl(log_ratio.detach()).item<double>();
  if (!first && options_.target_kl > 0 && stats.last_kl > options_.target_kl) return false;

  const double scale = options_.normalize_returns ? agent_->value_scale() : 1.0;
  const auto target = pick(data.returns_t) / scale;
  const auto policy = policy_loss(log_ratio, pick(data.advantage_t), options_.clip);
  const auto value = value_loss(e.value_xfer / scale, pick(data.old_value_xfer_t) / scale, target, options_.value_clip);
  const auto location_value =
      value_loss(e.value_location / scale, pick(data.old_value_location_t) / scale, target, options_.value_clip);
  const auto loss = policy + options_.value_weight * (value + location_value) - options_.entropy * e.entropy().mean();
  adam_.zero_grad();
  loss.backward();
  step(static_cast<int64_t>(chosen.size()), sums);

  stats.policy_loss += policy.item<double>();
  stats.value_loss += value.item<double>();
  stats.location_value_loss += location_value.item<double>();
  stats.entropy_xfer += e.entropy_xfer.mean().item<double>();
  stats.entropy_location += e.entropy_location.mean().item<double>();
  stats.approx_kl += stats.last_kl;
  stats.clip_fraction += clip_fraction(log_ratio.detach(), options_.clip).item<double>();
  ++stats.minibatches;
  return true;
}

UpdateStats PpoTrainer::update(const std::vector<mdp::Trajectory>& trajectories, Rng& shuffle,
                               const std::function<void()>& between) {
  const auto data = flatten(trajectories);
  const auto count = static_cast<int64_t>(data.actions.size());
  if (count == 0) return {};
  update_value_scale(data.returns_t);

  Sums sums;
  auto& stats = sums.stats;
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const int64_t parts = (count + options_.minibatch - 1) / options_.minibatch;  // of nearly equal size
  for (int epoch = 0; epoch < options_.epochs && !stats.early_stop; ++epoch) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[shuffle.below(i)]);
    for (int64_t part = 0; part < parts && !stats.early_stop; ++part) {
      const auto begin = static_cast<size_t>(part * count / parts),
                 end = static_cast<size_t>((part + 1) * count / parts);
      stats.early_stop = !train(data, std::span(order).subspan(begin, end - begin), epoch == 0 && part == 0, sums);
      if (between) between();
    }
  }
  if (sums.steps == 0) {
    fail(
        "ppo: the gradients of all {} minibatches were not finite (policy loss {}, value loss {}); the weights are "
        "unchanged",
        stats.minibatches, stats.policy_loss, stats.value_loss);
  }
  const auto n = static_cast<double>(stats.minibatches);
  for (double* sum : {&stats.policy_loss, &stats.value_loss, &stats.location_value_loss, &stats.entropy_xfer,
                      &stats.entropy_location, &stats.approx_kl, &stats.clip_fraction}) {
    *sum /= n;
  }
  stats.grad_norm /= static_cast<double>(sums.steps);
  stats.transitions = count;
  stats.explained_variance = explained_variance(data.old_value_xfer_t, data.returns_t).item<double>();
  stats.return_mean = data.returns_t.mean().item<double>();
  stats.advantage_deviation = data.advantage_deviation;
  stats.value_shift = agent_->value_shift();
  stats.value_scale = agent_->value_scale();
  stats.learning_rate = static_cast<torch::optim::AdamOptions&>(adam_.param_groups()[0].options()).lr();
  return stats;
}

}  // namespace rlgo::learner

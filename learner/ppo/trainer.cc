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
constexpr double kLargestWeight = 2;           // of a transition of older weights (truncated: Espeholt et al. 2018)
constexpr double kFreshRatioTolerance = 0.01;  // far above rounding, far below a wrong mask

Tensor floats(const std::vector<float>& values) { return torch::tensor(values, torch::kFloat32); }

// One checked step: everything that is multiplied into the loss must be a number.
void check_step(const mdp::Step& step, const mdp::Trajectory& trajectory, size_t t) {
  for (const float value :
       {step.reward, step.log_prob_rule, step.log_prob_location, step.value_rule, step.value_location}) {
    if (!std::isfinite(value))
      fail("ppo: step {} of episode {} of rank {} has a number that is not finite", t, trajectory.episode,
           trajectory.rank);
  }
}

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

// All transitions of an update, one after the other.
struct PpoTrainer::Data {
  std::vector<const mdp::Observation*> observations;
  std::optional<nets::RowTable> table;  // of a local encoder's rows, and what each observation has of them
  std::vector<nets::RowIds> rows;
  std::vector<mdp::Action> actions;
  std::vector<int64_t> versions;
  std::vector<float> old_log_prob, old_value_rule, old_value_location;
  Tensor old_log_prob_t, old_value_rule_t, old_value_location_t, advantage_t, returns_t;  // [T]
  Tensor proximal_log_prob_t, proximal_value_t;  // [T] under the weights that the update starts from
  Tensor weight_t;                               // [T] of each transition: proximal to behaviour policy
  // Over all learners' transitions, of which this learner has those from `first` on.
  int64_t total = 0, first = 0;
  double advantage_deviation = 0, return_mean = 0, return_deviation = 0, explained_variance = 0;
};

// This learner's part of a minibatch: sums over its transitions, divided by the size of the whole minibatch.
struct PpoTrainer::Minibatch {
  enum Part { policy, value, location_value, entropy_rule, entropy_location, kl, clipped, kParts };
  Tensor loss;  // undefined where the part is empty
  std::vector<double> parts = std::vector<double>(kParts);
  double ratio_deviation = 0;
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

PpoTrainer::Data PpoTrainer::flatten(const std::vector<mdp::Trajectory>& trajectories,
                                     const std::function<void()>& between) const {
  Data data;
  const auto spec_hash = agent_->spec().hash();
  if (const auto encoder = agent_->local_encoder(); encoder && options_.distinct_rows)
    data.table.emplace(agent_->spec(), encoder->rounds, encoder->both_directions);
  for (const auto& trajectory : trajectories) {
    if (trajectory.spec_hash != spec_hash) {
      fail("ppo: episode {} of rank {} comes from another environment (spec {:#x}, the network has {:#x})",
           trajectory.episode, trajectory.rank, trajectory.spec_hash, spec_hash);
    }
    if (!trajectory.terminal && !std::isfinite(trajectory.last_value_rule)) {
      fail("ppo: the last value of episode {} of rank {} is not finite", trajectory.episode, trajectory.rank);
    }
    for (size_t t = 0; t < trajectory.steps.size(); ++t) {
      const auto& step = trajectory.steps[t];
      check_step(step, trajectory, t);
      data.observations.push_back(&step.observation);
      if (data.table) {
        mdp::check(step.observation, agent_->spec());
        data.rows.push_back(data.table->add(step.observation));
      }
      data.actions.push_back(step.action);
      data.versions.push_back(trajectory.weights_version);
      data.old_log_prob.push_back(step.log_prob_rule + step.log_prob_location);
      data.old_value_rule.push_back(step.value_rule);
      data.old_value_location.push_back(step.value_location);
    }
    if (between) between();
  }
  data.old_log_prob_t = floats(data.old_log_prob);
  data.old_value_rule_t = floats(data.old_value_rule);
  data.old_value_location_t = floats(data.old_value_location);
  return data;
}

void PpoTrainer::find_advantages(Data& data, const std::vector<mdp::Trajectory>& trajectories) const {
  const bool correct = options_.advantage == AdvantageEstimator::vtrace;
  const Tensor log_ratio = data.proximal_log_prob_t - data.old_log_prob_t;
  std::vector<float> advantages, returns;
  for (const auto& trajectory : trajectories) {
    const auto begin = static_cast<std::ptrdiff_t>(advantages.size());
    const auto of_steps = [&](const Tensor& all) {
      return std::span(all.const_data_ptr<float>() + begin, trajectory.steps.size());
    };
    std::vector<float> rewards;
    for (const auto& step : trajectory.steps) rewards.push_back(step.reward);
    const float last_value = trajectory.terminal ? 0.0f : trajectory.last_value_rule;
    const auto found = correct ? vtrace(rewards, of_steps(data.proximal_value_t), last_value, of_steps(log_ratio),
                                        options_.gamma, options_.lambda)
                               : gae(trajectory, options_.gamma, options_.lambda);
    advantages.insert(advantages.end(), found.advantages.begin(), found.advantages.end());
    returns.insert(returns.end(), found.returns.begin(), found.returns.end());
  }
  data.advantage_t = floats(advantages);
  data.returns_t = floats(returns);
  data.weight_t = log_ratio.exp().clamp_max(correct ? 1 : kLargestWeight);
}

// Means and deviations over the transitions of all learners; the advantages are normalised by theirs.
void PpoTrainer::share(Data& data) const {
  const auto own = static_cast<double>(data.actions.size());
  const auto counts = group_->gather({&own, 1}).values;
  data.total = static_cast<int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
  data.first = static_cast<int64_t>(std::accumulate(counts.begin(), counts.begin() + group_->place(), 0.0));
  if (data.total == 0) return;
  const Tensor exact[] = {data.advantage_t.to(torch::kFloat64), data.returns_t.to(torch::kFloat64),
                          (data.returns_t - data.old_value_rule_t).to(torch::kFloat64)};
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
  if (options_.normalize_advantages)
    data.advantage_t = (data.advantage_t - mean[0]) / (data.advantage_deviation + 1e-8);
}

void PpoTrainer::update_value_scale(const Data& data) {
  if (!options_.normalize_returns) return;
  const double square = data.return_deviation * data.return_deviation + data.return_mean * data.return_mean;
  return_mean_ = kReturnDecay * return_mean_ + (1 - kReturnDecay) * data.return_mean;
  return_square_ = kReturnDecay * return_square_ + (1 - kReturnDecay) * square;
  return_weight_ = kReturnDecay * return_weight_ + (1 - kReturnDecay);
  const double mean = return_mean_ / return_weight_;
  const double variance = return_square_ / return_weight_ - mean * mean;
  agent_->rescale_values(mean, std::max(std::sqrt(std::max(variance, 0.0)), kMinValueScale));
}

// What the policy and the critic think of the actions now. Data that was made with these weights says so itself.
void PpoTrainer::find_proximal(Data& data, const std::function<void()>& between) {
  data.proximal_log_prob_t = data.old_log_prob_t;
  data.proximal_value_t = data.old_value_rule_t;
  const auto stale = [&](int64_t version) { return !version_ || version != *version_; };
  if (std::ranges::any_of(data.versions, stale)) {
    const torch::NoGradGuard no_gradients;
    std::vector<Tensor> log_probs, values;
    const auto count = static_cast<int64_t>(data.actions.size());
    for (int64_t begin = 0; begin < count; begin += options_.minibatch) {
      std::vector<int64_t> chosen(static_cast<size_t>(std::min<int64_t>(options_.minibatch, count - begin)));
      std::iota(chosen.begin(), chosen.end(), begin);
      auto batch = collate(data, chosen);
      const auto type = agent_->parameters()[0].scalar_type();
      if (type != torch::kFloat32) batch.convert(type);
      const auto e =
          agent_->evaluate(batch, std::span(data.actions).subspan(static_cast<size_t>(begin), chosen.size()));
      log_probs.push_back(e.log_prob().to(torch::kCPU, torch::kFloat32));
      values.push_back(e.value_rule.to(torch::kCPU, torch::kFloat32));
      if (between) between();
    }
    data.proximal_log_prob_t = torch::cat(log_probs);
    data.proximal_value_t = torch::cat(values);
  }
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

nets::GraphBatch PpoTrainer::collate(const Data& data, std::span<const int64_t> chosen) const {
  std::vector<const mdp::Observation*> observations;
  std::vector<const nets::RowIds*> rows;
  for (const int64_t i : chosen) {
    observations.push_back(data.observations[static_cast<size_t>(i)]);
    if (data.table) rows.push_back(&data.rows[static_cast<size_t>(i)]);
  }
  return data.table ? nets::collate(observations, agent_->spec(), *data.table, rows, agent_->device())
                    : nets::collate(observations, agent_->spec(), agent_->device());
}

PpoTrainer::Minibatch PpoTrainer::evaluate(const Data& data, std::span<const int64_t> chosen, int64_t size,
                                           bool first) {
  Minibatch result;
  if (chosen.empty()) return result;
  std::vector<mdp::Action> actions;
  for (const int64_t i : chosen) actions.push_back(data.actions[static_cast<size_t>(i)]);
  const auto device = agent_->device();
  const auto type = agent_->parameters()[0].scalar_type();
  const auto index = torch::tensor(std::vector<int64_t>(chosen.begin(), chosen.end()), torch::kInt64);
  const auto pick = [&](const Tensor& all) { return all.index_select(0, index).to(device, type); };
  auto batch = collate(data, chosen);
  if (type != torch::kFloat32) batch.convert(type);
  const auto e = agent_->evaluate(batch, actions);

  const auto log_ratio = e.log_prob() - pick(data.proximal_log_prob_t);
  if (first) {
    const auto since_acting = e.log_prob().detach() - pick(data.old_log_prob_t);
    result.ratio_deviation = since_acting.expm1().abs().max().item<double>();
    check_fresh(data, chosen, result.ratio_deviation);
  }
  const double scale = options_.normalize_returns ? agent_->value_scale() : 1.0;
  const auto target = pick(data.returns_t) / scale;
  const auto policy = policy_loss(log_ratio, pick(data.advantage_t * data.weight_t), options_.clip);
  const auto value = value_loss(e.value_rule / scale, pick(data.old_value_rule_t) / scale, target, options_.value_clip);
  const auto location_value =
      value_loss(e.value_location / scale, pick(data.old_value_location_t) / scale, target, options_.value_clip);
  const double share = static_cast<double>(chosen.size()) / static_cast<double>(size);
  result.loss =
      share * (policy + options_.value_weight * (value + location_value) - options_.entropy * e.entropy().mean());
  const auto ratio = log_ratio.detach();
  const auto parts =
      torch::stack({policy.detach(), value.detach(), location_value.detach(), e.entropy_rule.detach().mean(),
                    e.entropy_location.detach().mean(), approx_kl(ratio), clip_fraction(ratio, options_.clip).to(type)})
          .to(torch::kCPU, torch::kFloat64);  // one transfer
  for (size_t i = 0; i < result.parts.size(); ++i) result.parts[i] = share * parts.const_data_ptr<double>()[i];
  return result;
}

bool PpoTrainer::train(const Data& data, std::span<const int64_t> chosen, int64_t size, bool first, Sums& sums) {
  auto m = evaluate(data, chosen, size, first);
  group_->sum(m.parts);
  auto& stats = sums.stats;
  if (first) stats.ratio_deviation = group_->max(m.ratio_deviation);
  stats.last_kl = m.parts[Minibatch::kl];
  if (!first && options_.target_kl > 0 && stats.last_kl > options_.target_kl) return false;

  gradients_->begin();
  if (m.loss.defined()) m.loss.backward();
  step(sums);

  stats.policy_loss += m.parts[Minibatch::policy];
  stats.value_loss += m.parts[Minibatch::value];
  stats.location_value_loss += m.parts[Minibatch::location_value];
  stats.entropy_rule += m.parts[Minibatch::entropy_rule];
  stats.entropy_location += m.parts[Minibatch::entropy_location];
  stats.approx_kl += stats.last_kl;
  stats.clip_fraction += m.parts[Minibatch::clipped];
  ++stats.minibatches;
  return true;
}

UpdateStats PpoTrainer::update(const std::vector<mdp::Trajectory>& trajectories, Rng& shuffle,
                               const std::function<void()>& between) {
  auto data = flatten(trajectories, between);
  find_proximal(data, between);
  find_advantages(data, trajectories);
  share(data);
  const int64_t count = data.total, end_of_own = data.first + static_cast<int64_t>(data.actions.size());
  if (count == 0) return {};
  update_value_scale(data);

  Sums sums;
  auto& stats = sums.stats;
  const int64_t parts = (count + options_.minibatch - 1) / options_.minibatch;  // of nearly equal size
  for (int epoch = 0; epoch < options_.epochs && !stats.early_stop; ++epoch) {
    const auto order = shuffled(count, data.table ? options_.segment : 1, shuffle);
    for (int64_t part = 0; part < parts && !stats.early_stop; ++part) {
      const int64_t begin = part * count / parts, end = (part + 1) * count / parts;
      std::vector<int64_t> own;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = order[static_cast<size_t>(i)];
        if (at >= data.first && at < end_of_own) own.push_back(at - data.first);
      }
      stats.early_stop = !train(data, own, end - begin, epoch == 0 && part == 0, sums);
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
  for (double* sum : {&stats.policy_loss, &stats.value_loss, &stats.location_value_loss, &stats.entropy_rule,
                      &stats.entropy_location, &stats.approx_kl, &stats.clip_fraction}) {
    *sum /= n;
  }
  stats.grad_norm /= static_cast<double>(sums.steps);
  stats.transitions = count;
  stats.explained_variance = data.explained_variance;
  stats.return_mean = data.return_mean;
  stats.advantage_deviation = data.advantage_deviation;
  stats.value_shift = agent_->value_shift();
  stats.value_scale = agent_->value_scale();
  stats.learning_rate = static_cast<torch::optim::AdamOptions&>(adam_.param_groups()[0].options()).lr();
  return stats;
}

}  // namespace rlgo::learner

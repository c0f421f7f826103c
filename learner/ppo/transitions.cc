#include "learner/ppo/transitions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/nets/transfer.h"

namespace rlgo::learner {
namespace {

using torch::Tensor;

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

void check_trajectory(const mdp::Trajectory& trajectory, uint64_t spec_hash) {
  if (trajectory.spec_hash != spec_hash) {
    fail("ppo: episode {} of rank {} comes from another environment (spec {:#x}, the network has {:#x})",
         trajectory.episode, trajectory.rank, trajectory.spec_hash, spec_hash);
  }
  if (!trajectory.terminal && !std::isfinite(trajectory.last_value_rule))
    fail("ppo: the last value of episode {} of rank {} is not finite", trajectory.episode, trajectory.rank);
}

// Its place among the locations of all rules; -1 for NO-OP.
int64_t location_of(const mdp::Step& step, const mdp::Trajectory& trajectory, size_t t, int32_t rules) {
  const auto [x, location] = step.action;
  const auto& counts = step.observation.counts;
  const bool legal =
      x == rules ? location == 0
                 : x >= 0 && x < std::ssize(counts) && location >= 0 && location < counts[static_cast<size_t>(x)];
  if (!legal)
    fail("ppo: the action (rule {}, location {}) of step {} of episode {} of rank {} is not legal", x, location, t,
         trajectory.episode, trajectory.rank);
  return x == rules ? -1 : std::accumulate(counts.begin(), counts.begin() + x, int64_t{location});
}

}  // namespace

Transitions flatten(const std::vector<mdp::Trajectory>& trajectories, nets::AgentImpl& agent, bool distinct,
                    const std::function<void()>& between) {
  Transitions data;
  const auto& spec = agent.spec();
  const auto spec_hash = spec.hash();
  if (const auto encoder = agent.local_encoder(); encoder && distinct)
    data.table.emplace(spec, encoder->rounds, encoder->both_directions);
  std::vector<int64_t> rules, locations;
  std::vector<float> log_prob, value_rule, value_location;
  for (const auto& trajectory : trajectories) {
    check_trajectory(trajectory, spec_hash);
    for (size_t t = 0; t < trajectory.steps.size(); ++t) {
      const auto& step = trajectory.steps[t];
      check_step(step, trajectory, t);
      data.observations.push_back(&step.observation);
      if (data.table) {
        mdp::check(step.observation, spec);
        data.rows.push_back(data.table->add(step.observation));
      }
      rules.push_back(step.action.rule);
      locations.push_back(location_of(step, trajectory, t, spec.rules));
      data.versions.push_back(trajectory.weights_version);
      log_prob.push_back(step.log_prob_rule + step.log_prob_location);
      value_rule.push_back(step.value_rule);
      value_location.push_back(step.value_location);
    }
    if (between) between();
  }
  data.actions = {nets::to_ints(rules, agent.device()), nets::to_ints(locations, agent.device())};
  data.old_log_prob = floats(log_prob);
  data.old_value_rule = floats(value_rule);
  data.old_value_location = floats(value_location);
  return data;
}

void join_whole(Transitions& data, nets::AgentImpl& agent, int64_t most_bytes) {
  if (data.table || data.observations.empty()) return;
  const auto dreamed = std::ranges::count_if(data.observations, [](const auto* o) { return mdp::is_dreamed(*o); });
  if (dreamed > 0 && dreamed < data.count()) return;
  nets::Collator collator(agent.spec(), agent.device());
  collator.add(data.observations);
  if (collator.bytes() > most_bytes) return;
  auto all = std::move(collator.finish()[0]);
  const auto type = agent.parameters()[0].scalar_type();
  if (type != torch::kFloat32) all.convert(type);
  data.whole.emplace(std::move(all));
}

LossInputs::LossInputs(const Transitions& data, torch::Device device, torch::ScalarType type) {
  const auto known = nets::to_device(
      torch::stack({data.old_log_prob, data.returns, data.advantage, data.old_value_rule, data.old_value_location}),
      device);
  const auto old = known[0];
  const auto proximal = data.proximal_log_prob.defined() ? data.proximal_log_prob : old;
  const auto weight = (proximal - old).exp().clamp_max(kLargestWeight);  // proximal to behaviour policy
  all_ = torch::stack({proximal, old, known[1], known[2] * weight, known[3], known[4]}).to(type);
}

Pass::Pass(const Transitions& data, nets::AgentImpl& agent, std::vector<std::vector<int64_t>> minibatches,
           const std::function<void()>& between, int64_t most_bytes)
    : data_(data),
      device_(agent.device()),
      type_(agent.parameters()[0].scalar_type()),
      minibatches_(std::move(minibatches)),
      between_(between),
      most_bytes_(most_bytes),
      collator_(agent.spec(), device_) {
  std::vector<int64_t> all;
  for (const auto& chosen : minibatches_) all.insert(all.end(), chosen.begin(), chosen.end());
  index_ = nets::to_ints(all, device_);
  if (!data_.whole) ahead_.emplace(!device_.is_cpu(), [this] { return join(); });
}

void Pass::add(const std::vector<int64_t>& chosen) {
  std::vector<const mdp::Observation*> observations;
  std::vector<const nets::RowIds*> rows;
  for (const int64_t i : chosen) {
    observations.push_back(data_.observations[static_cast<size_t>(i)]);
    if (data_.table) rows.push_back(&data_.rows[static_cast<size_t>(i)]);
  }
  if (data_.table) {
    collator_.add(observations, *data_.table, rows);
  } else {
    collator_.add(observations);
  }
}

// The next minibatch that is not joined yet, and elsewhere than on the CPU those that fit next to it.
std::optional<std::deque<nets::GraphBatch>> Pass::join() {
  bool any = false;
  while (joined_ < minibatches_.size()) {
    const auto& chosen = minibatches_[joined_++];
    if (chosen.empty()) continue;
    add(chosen);
    any = true;
    if (device_.is_cpu() || collator_.bytes() >= most_bytes_) break;
  }
  if (!any) return {};
  return collator_.finish();
}

nets::GraphBatch Pass::joined() {
  if (ready_.empty()) ready_ = ahead_->next(between_).value();
  auto batch = std::move(ready_.front());
  ready_.pop_front();
  if (type_ != torch::kFloat32) batch.convert(type_);
  return batch;
}

Pass::Minibatch Pass::next() {
  Minibatch result;
  result.chosen = minibatches_.at(next_);
  if (!result.chosen.empty()) {
    const auto count = std::ssize(result.chosen);
    result.index = index_.slice(0, begin_, begin_ + count);
    result.batch = data_.whole ? data_.whole->take(result.chosen, result.index) : joined();
    result.actions = {data_.actions.rule.index_select(0, result.index),
                      data_.actions.location.index_select(0, result.index)};
    begin_ += count;
  }
  ++next_;
  return result;
}

}  // namespace rlgo::learner

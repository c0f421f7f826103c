#include "replay/columns.h"

#include "core/base/error.h"

namespace rlgo::replay {
namespace {

void append(Columns& c, const mdp::StepInfo& info, RuleNames& rules) {
  c.applied_rule.push_back(rules.index(info.rule));
  c.cost_us.push_back(info.cost_us);
  c.flops.push_back(info.flops);
  c.bytes.push_back(info.bytes);
  c.peak_bytes.push_back(info.peak_bytes);
  c.launches.push_back(info.launches);
  c.step_us.push_back(info.step_us);
  c.measured_us.push_back(info.measured_us);
  c.measured_ratio.push_back(info.measured_ratio);
  c.measured_error.push_back(info.measured_error);
  c.timing.push_back(static_cast<uint8_t>(info.timing));
  c.place.push_back(info.location);
}

mdp::WholeTimed timing_of(uint8_t value) {
  if (value > static_cast<uint8_t>(mdp::WholeTimed::failed)) fail("steps/timing: {} is no outcome of a timing", value);
  return static_cast<mdp::WholeTimed>(value);
}

mdp::Step step(const Columns& c, uint64_t i, const RuleNames& rules) {
  mdp::Step s;
  s.action = {c.rule[i], c.location[i]};
  s.reward = c.reward[i];
  s.log_prob_rule = c.log_prob_rule[i];
  s.log_prob_location = c.log_prob_location[i];
  s.value_rule = c.value_rule[i];
  s.value_location = c.value_location[i];
  s.info = {rules.name(c.applied_rule[i]),
            c.cost_us[i],
            c.flops[i],
            c.bytes[i],
            c.peak_bytes[i],
            c.launches[i],
            c.step_us[i],
            c.measured_us[i],
            c.measured_ratio[i],
            c.measured_error[i],
            timing_of(c.timing[i]),
            c.place[i]};
  return s;
}

}  // namespace

RuleNames::RuleNames(const std::vector<std::string>& names) : names_(names) {
  for (size_t i = 0; i < names_.size(); ++i) indices_.emplace(names_[i], static_cast<int32_t>(i));
}

int32_t RuleNames::index(const std::string& rule) {
  if (rule.empty()) return -1;
  const auto [found, added] = indices_.emplace(rule, static_cast<int32_t>(names_.size()));
  if (added) names_.push_back(rule);
  return found->second;
}

const std::string& RuleNames::name(int32_t index) const {
  static const std::string none;
  if (index == -1) return none;
  if (index < 0 || static_cast<size_t>(index) >= names_.size())
    fail("rule index {} of {} rule names", index, names_.size());
  return names_[static_cast<size_t>(index)];
}

std::string EpisodeAppender::against_first(std::string_view code) {
  const auto decoded = [](std::string_view bytes) {
    ByteReader in(bytes);
    return mdp::decode_observation(nullptr, in);
  };
  const auto coded = [this](const mdp::Observation& observation) {
    ByteWriter out;
    mdp::encode_observation(&*first_, observation, out);
    return out.take();
  };
  if (!first_) {
    first_ = decoded(first_code_);
    again_ = coded(*first_);
  }
  return code == first_code_ ? again_ : coded(decoded(code));
}

void EpisodeAppender::append(Columns& c, const mdp::Trajectory& t, const mdp::ObservationCodes& observations,
                             RuleNames& rules) {
  RLGO_CHECK_EQ(observations.size(), t.steps.size() + 1);
  const int64_t start = row_;
  std::string first;  // may throw: nothing has been added yet
  if (start == 0) {
    first_code_ = first = observations.code(0);
  } else {
    first = against_first(observations.code(0));
  }
  c.seed.push_back(t.seed);
  c.rank.push_back(t.rank);
  c.episode.push_back(t.episode);
  c.weights_version.push_back(t.weights_version);
  c.spec_hash.push_back(t.spec_hash);
  c.terminal.push_back(t.terminal ? 1 : 0);
  c.truncated.push_back(t.terminal ? 0 : 1);
  c.dream.push_back(t.dream ? 1 : 0);
  c.initial_cost_us.push_back(t.initial_cost_us);
  c.best_cost_us.push_back(t.best_cost_us);
  c.last_value_rule.push_back(t.last_value_rule);
  c.graph.push_back(t.beginning.graph);
  for (const auto& rewrite : t.beginning.rewrites) {
    c.start_rule.push_back(rewrite.rule);
    c.start_location.push_back(rewrite.location);
  }
  c.start_cost_us.insert(c.start_cost_us.end(), t.beginning.cost_us.begin(), t.beginning.cost_us.end());
  c.start_offset.push_back(static_cast<int64_t>(c.start_rule.size()));
  for (const auto& s : t.steps) {
    c.rule.push_back(s.action.rule);
    c.location.push_back(s.action.location);
    c.reward.push_back(s.reward);
    c.log_prob_rule.push_back(s.log_prob_rule);
    c.log_prob_location.push_back(s.log_prob_location);
    c.value_rule.push_back(s.value_rule);
    c.value_location.push_back(s.value_location);
    replay::append(c, s.info, rules);
  }
  c.step_offset.push_back(static_cast<int64_t>(c.rule.size()));
  for (size_t i = 0; i < observations.size(); ++i, ++row_) {
    const std::string_view code = i == 0 ? first : observations.code(i);
    const auto& size = observations.size(i);
    c.nodes.push_back(size.nodes);
    c.edges.push_back(size.edges);
    c.locations.push_back(size.locations);
    c.base.push_back(i > 0 ? start + static_cast<int64_t>(mdp::base_of(i)) : start > 0 ? 0 : -1);
    c.code.insert(c.code.end(), code.begin(), code.end());
    c.code_offset.push_back(static_cast<int64_t>(c.code.size()));
  }
}

mdp::Trajectory to_trajectory(const Columns& c, const RuleNames& rules) {
  RLGO_CHECK_EQ(c.seed.size(), size_t{1});
  mdp::Trajectory t;
  t.seed = c.seed[0];
  t.rank = c.rank[0];
  t.episode = c.episode[0];
  t.weights_version = c.weights_version[0];
  t.spec_hash = c.spec_hash[0];
  t.terminal = c.terminal[0] != 0;
  t.dream = c.dream[0] != 0;
  t.initial_cost_us = c.initial_cost_us[0];
  t.best_cost_us = c.best_cost_us[0];
  t.last_value_rule = c.last_value_rule[0];
  t.beginning.graph = c.graph[0];
  for (size_t i = 0; i < c.start_rule.size(); ++i)
    t.beginning.rewrites.push_back({c.start_rule[i], c.start_location[i]});
  t.beginning.cost_us = c.start_cost_us;
  const size_t steps = c.rule.size();
  t.steps.reserve(steps);
  for (size_t i = 0; i < steps; ++i) t.steps.push_back(step(c, i, rules));
  return t;
}

}  // namespace rlgo::replay

#include "replay/columns.h"

#include "core/base/error.h"

namespace rlgo::replay {
namespace {

template <typename T>
void extend(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append(Columns& c, const mdp::Observation& o) {
  extend(c.node_op, o.node_op);
  extend(c.node_feat, o.node_feat);
  extend(c.edge_src, o.edge_src);
  extend(c.edge_dst, o.edge_dst);
  extend(c.edge_feat, o.edge_feat);
  extend(c.globals, o.globals);
  extend(c.counts, o.counts);
  extend(c.loc_node, o.loc_node);
  c.node_offset.push_back(static_cast<int64_t>(c.node_op.size()));
  c.edge_offset.push_back(static_cast<int64_t>(c.edge_src.size()));
  c.location_offset.push_back(static_cast<int64_t>(c.loc_node.size()));
}

void append(Columns& c, const mdp::StepInfo& info, RuleNames& rules) {
  c.rule.push_back(rules.index(info.rule));
  c.cost_us.push_back(info.cost_us);
  c.flops.push_back(info.flops);
  c.bytes.push_back(info.bytes);
  c.peak_bytes.push_back(info.peak_bytes);
  c.launches.push_back(info.launches);
  c.step_us.push_back(info.step_us);
  c.measured_us.push_back(info.measured_us);
}

// Rows first .. last - 1 of a [rows, width] array.
template <typename T>
std::vector<T> rows(const std::vector<T>& from, uint64_t first, uint64_t last, uint64_t width = 1) {
  if (first > last || last * width > from.size())
    fail("rows {} to {} of {} values, {} each", first, last, from.size(), width);
  return {from.begin() + static_cast<std::ptrdiff_t>(first * width),
          from.begin() + static_cast<std::ptrdiff_t>(last * width)};
}

mdp::Observation observation(const Columns& c, uint64_t i, const mdp::ObservationSpec& spec) {
  const auto width = [&](Width which) { return width_of(which, spec); };
  const auto at = [&](const std::vector<int64_t>& offsets, uint64_t index) {
    return static_cast<uint64_t>(offsets[index]);
  };
  mdp::Observation o;
  const uint64_t node = at(c.node_offset, i), node_end = at(c.node_offset, i + 1);
  const uint64_t edge = at(c.edge_offset, i), edge_end = at(c.edge_offset, i + 1);
  o.node_op = rows(c.node_op, node, node_end);
  o.node_feat = rows(c.node_feat, node, node_end, width(Width::node_features));
  o.edge_src = rows(c.edge_src, edge, edge_end);
  o.edge_dst = rows(c.edge_dst, edge, edge_end);
  o.edge_feat = rows(c.edge_feat, edge, edge_end, width(Width::edge_features));
  o.globals = rows(c.globals, i, i + 1, width(Width::globals));
  o.counts = rows(c.counts, i, i + 1, width(Width::xfers));
  o.loc_node = rows(c.loc_node, at(c.location_offset, i), at(c.location_offset, i + 1));
  return o;
}

mdp::Step step(const Columns& c, uint64_t i, const RuleNames& rules) {
  mdp::Step s;
  s.action = {c.xfer[i], c.location[i]};
  s.reward = c.reward[i];
  s.log_prob_xfer = c.log_prob_xfer[i];
  s.log_prob_location = c.log_prob_location[i];
  s.value_xfer = c.value_xfer[i];
  s.value_location = c.value_location[i];
  s.info = {rules.name(c.rule[i]), c.cost_us[i],  c.flops[i],   c.bytes[i],
            c.peak_bytes[i],       c.launches[i], c.step_us[i], c.measured_us[i]};
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

void append(Columns& c, const mdp::Trajectory& t, RuleNames& rules) {
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
  c.last_value_xfer.push_back(t.last_value_xfer);
  for (const auto& s : t.steps) {
    c.xfer.push_back(s.action.xfer);
    c.location.push_back(s.action.location);
    c.reward.push_back(s.reward);
    c.log_prob_xfer.push_back(s.log_prob_xfer);
    c.log_prob_location.push_back(s.log_prob_location);
    c.value_xfer.push_back(s.value_xfer);
    c.value_location.push_back(s.value_location);
    append(c, s.info, rules);
    append(c, s.observation);
  }
  append(c, t.last);
  c.step_offset.push_back(static_cast<int64_t>(c.xfer.size()));
}

mdp::Trajectory to_trajectory(const Columns& c, const RuleNames& rules, const mdp::ObservationSpec& spec) {
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
  t.last_value_xfer = c.last_value_xfer[0];
  const size_t steps = c.xfer.size();
  t.steps.reserve(steps);
  for (size_t i = 0; i < steps; ++i) {
    t.steps.push_back(step(c, i, rules));
    t.steps.back().observation = observation(c, i, spec);
  }
  t.last = observation(c, steps, spec);
  return t;
}

}  // namespace rlgo::replay

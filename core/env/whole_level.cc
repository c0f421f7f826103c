#include "core/env/whole_level.h"

#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.h"

namespace rlgo::env {

WholeLevel::WholeLevel(Reward reward, cost::WholeTimer timer, const graph::Graph& unmodified)
    : reward_(reward), timer_(std::move(timer)) {
  if (!times_whole(reward_)) return;
  if (!timer_)
    fail("reward {} needs a way to measure whole graphs on this device; none was given", name_of(reward_, kRewards));
  unmodified_ = timer_(unmodified, 1);
  if (!unmodified_.ok()) fail("cannot time the unmodified graph '{}': {}", unmodified.name(), unmodified_.failure);
  level_ = unmodified_;
}

void WholeLevel::begin(const graph::Graph& graph) {
  if (!times_whole(reward_)) return;
  level_ = timer_(graph, 1);
  if (level_.ok()) return;
  if (reward_ == Reward::measured) fail("cannot time the whole graph: {}", level_.failure);
  level_ = unmodified_;
  level_.error = std::numeric_limits<double>::infinity();
}

double WholeLevel::step(const graph::Graph& graph, mdp::StepInfo& info) {
  if (!times_whole(reward_)) return 0;
  const double before = level_.ratio;
  const cost::WholeTiming now = timer_(graph, before);
  if (!now.ok() && reward_ == Reward::measured) fail("cannot time the whole graph: {}", now.failure);
  if (!now.ok()) {
    info.timing = mdp::WholeTimed::failed;
    return 0;
  }
  info.measured_us = now.us();
  info.measured_ratio = now.ratio;
  info.measured_error = now.error;
  const bool known = std::isfinite(level_.error);
  const bool differs = std::abs(now.ratio - before) > std::hypot(now.error, level_.error);
  const bool shown = reward_ == Reward::measured || (known && differs);
  info.timing = shown ? mdp::WholeTimed::shown : mdp::WholeTimed::within_noise;
  if (shown || !known) level_ = now;
  return shown ? 100 * (before - now.ratio) : 0;
}

void WholeLevel::stay(mdp::StepInfo& info) const {
  if (!times_whole(reward_) || !std::isfinite(level_.error)) return;
  info.measured_us = level_.us();
  info.measured_ratio = level_.ratio;
  info.measured_error = level_.error;
}

}  // namespace rlgo::env

#include "learner/session/gains.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/search/macro.h"
#include "core/search/region.h"

namespace rlgo::learner {
namespace {

constexpr double kTolerance = 1e-9;  // of the unmodified graph's cost: what searches take for rounding

search::State start_state(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules,
                          cost::CostModel& cost) {
  return {graph,  rules::MatchIndex(rules, graph), graph::NameHash(graph), cost::graph_cost(cost, graph).runtime_us, 0,
          nullptr};
}

}  // namespace

Gains::Gains(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& cost,
             int max_locations)
    : graph_(graph),
      rules_(std::move(rules)),
      cost_(cost),
      max_locations_(max_locations),
      tolerance_us_(kTolerance * cost::graph_cost(cost, graph).runtime_us),
      walk_(
          start_state(graph, rules_, cost), cost, cost, max_locations, [] { return true; },
          search::Walk::Unknown::estimated),
      unmodified_(walk_.mark()) {}

void Gains::follow(const rules::Rewrite& rewrite) {
  const auto place = std::ranges::find(walk_.places(), rewrite, &search::Place::step);
  if (place == walk_.places().end() || !walk_.take(static_cast<size_t>(place - walk_.places().begin())))
    fail("an episode's rewrite, rule {} at location {}, does not apply here", rules_->name(rewrite.rule),
         rewrite.location);
}

std::optional<env::Way> Gains::take(const mdp::Trajectory& episode) {
  walk_.restore(unmodified_);
  for (const mdp::Action& action : episode.beginning.rewrites) follow({action.rule, action.location});
  const search::Walk::Mark start = walk_.mark();
  std::vector<search::Taken> taken;
  const auto note = [&] {
    const auto added = walk_.added(), changed = walk_.changed();
    taken.push_back({walk_.last(), {added.begin(), added.end()}, {changed.begin(), changed.end()}});
  };
  for (const mdp::Step& step : episode.steps) {
    if (step.action.rule == rules_->size()) continue;  // NO-OP
    follow({step.action.rule, step.info.location});
    note();
  }
  const auto descend = [&](bool noted) {
    while (const auto best = search::steepest(walk_.places(), tolerance_us_)) {
      if (!walk_.take(*best)) return;
      if (noted) note();
    }
  };
  descend(true);
  if (walk_.cost_us() >= start.cost_us - tolerance_us_) return std::nullopt;
  const auto goes_on = [] { return true; };
  const auto needed = search::minimise(walk_, start, taken, tolerance_us_, goes_on);
  search::spread(walk_, search::to_macro(needed), tolerance_us_, goes_on);
  descend(false);
  return env::priced_way(graph_, rules_, cost_, max_locations_, search::to_trace(walk_.trail().get()));
}

}  // namespace rlgo::learner

#include "learner/session/gains.h"

#include "actors/collector.h"
#include "core/base/error.h"
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

search::Taken Gains::follow(const rules::Rewrite& rewrite) {
  auto taken = search::take(walk_, rewrite);
  if (!taken)
    fail("an episode's rewrite, rule {} at location {}, does not apply here", rules_->name(rewrite.rule),
         rewrite.location);
  return std::move(*taken);
}

std::optional<env::Way> Gains::take(const mdp::Trajectory& episode) {
  walk_.restore(unmodified_);
  for (const mdp::Action& action : episode.beginning.rewrites) follow({action.rule, action.location});
  const search::Walk::Mark start = walk_.mark();
  std::vector<search::Taken> taken;
  for (const mdp::Step& step : episode.steps) {
    if (step.action.rule == rules_->size()) continue;  // NO-OP
    taken.push_back(follow({step.action.rule, step.info.location}));
  }
  const auto descend = [&] {
    while (const auto best = search::steepest(walk_.places(), tolerance_us_)) {
      auto made = search::take(walk_, *best);
      if (!made) return;
      taken.push_back(std::move(*made));
    }
  };
  descend();
  if (walk_.cost_us() >= start.cost_us - tolerance_us_) return std::nullopt;
  const auto goes_on = [] { return true; };
  const auto needed = search::minimise(walk_, start, taken, tolerance_us_, goes_on);
  search::spread(walk_, search::connected(walk_, start, needed, tolerance_us_), tolerance_us_, goes_on);
  descend();
  return env::priced_way(graph_, rules_, cost_, max_locations_, search::to_trace(walk_.trail().get()));
}

bool keep_gain(const mdp::Trajectory& episode, Gains& gains, BestGraph& best, env::Starts& starts) {
  double reward = 0;
  for (const auto& step : episode.steps) reward += step.reward;
  if (episode.beginning.rewrites.empty() || reward <= 0) return false;
  auto way = gains.take(episode);
  if (!way) return false;
  const bool better = way->cost_us.back() < best.best_us();
  if (better) best.replace(way->rewrites, way->cost_us);
  starts.offer(std::move(*way), starts.island_of(actors::episode_key(episode.seed, episode.rank, episode.episode)));
  return better;
}

}  // namespace rlgo::learner

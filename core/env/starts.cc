#include "core/env/starts.h"

#include <algorithm>

#include "core/base/rng.h"
#include "core/search/walk.h"

namespace rlgo::env {

Starts::Starts(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& cost,
               int max_locations, double share, int64_t budget)
    : share_(share) {
  search::Options options;
  options.budget = budget;
  options.max_locations = max_locations;
  const double before_us = cost::graph_cost(cost, graph).runtime_us;
  for (const char* method : {"greedy", "anneal", "window"}) {
    const auto found = search::run(method, {graph, rules, cost}, options);
    if (found.trace.empty()) continue;
    Way way{found.trace, {}};
    const search::State start{graph, rules::MatchIndex(rules, graph), graph::NameHash(graph), before_us, 0, nullptr};
    search::Walk walk(start, cost, cost, max_locations, {});
    for (const rules::Rewrite& rewrite : way.rewrites) {
      const auto place = std::ranges::find(walk.places(), rewrite, &search::Place::step);
      if (place == walk.places().end() || !walk.take(static_cast<size_t>(place - walk.places().begin()))) break;
      way.cost_us.push_back(walk.cost_us());
    }
    keep_best(way, before_us);
    if (walk.places().empty() && !way.cost_us.empty()) way.cost_us.pop_back();  // an episode must have somewhere to go
    way.rewrites.resize(way.cost_us.size());
    if (!way.rewrites.empty()) ways_.push_back(std::move(way));
  }
}

void Starts::keep_best(const Way& way, double before_us) {
  if (way.cost_us.empty()) return;
  const auto lowest = std::ranges::min_element(way.cost_us);
  if (*lowest >= (best_.cost_us.empty() ? before_us : best_.cost_us.back())) return;
  const auto length = lowest - way.cost_us.begin() + 1;
  best_ = {{way.rewrites.begin(), way.rewrites.begin() + length}, {way.cost_us.begin(), way.cost_us.begin() + length}};
}

std::optional<Start> Starts::of(uint64_t key) const {
  Rng rng({key, 0x57A27});
  if (ways_.empty() || rng.uniform() >= share_) return std::nullopt;
  const Way& way = ways_[rng.below(ways_.size())];
  return Start{&way.rewrites, &way.cost_us, 1 + rng.below(way.rewrites.size())};
}

}  // namespace rlgo::env

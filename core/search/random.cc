#include <algorithm>

#include "core/base/rng.h"
#include "core/search/session.h"

namespace rlgo::search {
namespace {

// Rules with at least one match.
std::vector<int32_t> applicable_rules(const rules::MatchIndex& index) {
  std::vector<int32_t> rules;
  for (int32_t rule = 0; rule < index.rules().size(); ++rule) {
    if (!index.matches(rule).empty()) rules.push_back(rule);
  }
  return rules;
}

Step draw(const rules::MatchIndex& index, std::span<const int32_t> rules, int max_locations, Rng& rng) {
  const int32_t rule = rules[rng.below(rules.size())];
  const uint64_t locations = std::min<uint64_t>(index.matches(rule).size(), static_cast<uint64_t>(max_locations));
  return {rule, static_cast<int32_t>(rng.below(locations))};
}

// One walk from the original graph; false where the search must end.
bool walk(Session& session, rules::MatchIndex index, Rng rng) {
  graph::Graph graph = session.problem().graph;
  double cost_us = session.before_us();
  Trace trace;
  for (int k = 0; k < session.options().walk_length; ++k) {
    const auto rules = applicable_rules(index);
    if (rules.empty()) return true;
    if (!session.may_continue()) return false;
    const Step step = draw(index, rules, session.options().max_locations, rng);
    auto candidate = session.price(graph, index.matches(step.rule)[static_cast<size_t>(step.location)]);
    if (!candidate) continue;
    graph = std::move(candidate->rewrite.graph);
    index.update(graph, candidate->rewrite.delta);
    cost_us += candidate->delta_us;
    trace.push_back(step);
    ++session.counters().steps;
    session.offer(graph, cost_us, trace);
  }
  return true;
}

}  // namespace

Result random_walks(const Problem& problem, const Options& options) {
  Session session(problem, options);
  const rules::MatchIndex start(problem.rules, problem.graph);
  if (start.total() == 0) return session.finish();
  for (uint64_t number = 0;; ++number) {
    ++session.counters().walks;
    if (!walk(session, start, Rng({options.seed, number}))) return session.finish();
  }
}

}  // namespace rlgo::search

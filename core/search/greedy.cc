#include <algorithm>

#include "core/search/session.h"

namespace rlgo::search {
namespace {

struct Best {
  Step step;
  rules::Rewrite rewrite;
  double delta_us;
};

// The match that lowers the cost most; the first of equals. Nothing where none lowers it (or the search must end).
std::optional<Best> best_rewrite(Session& session, const graph::Graph& graph, const rules::MatchIndex& index) {
  std::optional<Best> best;
  double bound = -session.tolerance_us();
  for (int32_t rule = 0; rule < index.rules().size(); ++rule) {
    const auto matches = index.matches(rule);
    const size_t count = std::min(matches.size(), static_cast<size_t>(session.options().max_locations));
    for (size_t location = 0; location < count; ++location) {
      if (!session.may_continue()) return best;
      auto candidate = session.price(graph, matches[location]);
      if (!candidate || candidate->delta_us >= bound) continue;
      bound = candidate->delta_us;
      best = Best{{rule, static_cast<int32_t>(location)}, std::move(candidate->rewrite), candidate->delta_us};
    }
  }
  return best;
}

}  // namespace

Result greedy(const Problem& problem, const Options& options) {
  Session session(problem, options);
  rules::MatchIndex index(problem.rules, problem.graph);
  graph::Graph graph = problem.graph;
  double cost_us = session.before_us();
  Trace trace;
  while (auto best = best_rewrite(session, graph, index)) {
    graph = std::move(best->rewrite.graph);
    index.update(graph, best->rewrite.delta);
    cost_us += best->delta_us;
    trace.push_back(best->step);
    ++session.counters().steps;
    session.offer(graph, cost_us, trace);
    if (!session.may_continue()) break;
  }
  return session.finish();
}

}  // namespace rlgo::search

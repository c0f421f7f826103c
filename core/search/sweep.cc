#include <algorithm>

#include "core/search/context.h"

namespace rlgo::search {
namespace {

// Where a match of another graph is found in this one; matches move when others come and go.
std::optional<rules::Rewrite> find(const rules::MatchIndex& index, const rules::Match& wanted) {
  std::optional<rules::Rewrite> found;
  const auto matches = index.matches(wanted.rule);
  for (size_t k = 0; k < matches.size(); ++k) {
    if (matches[k].nodes != wanted.nodes) continue;
    const bool same = matches[k].variables == wanted.variables;
    if (same || !found) found = rules::Rewrite{wanted.rule, static_cast<int32_t>(k)};
    if (same) break;
  }
  return found;
}

// Rewrites of a state that lower its cost, the best first; of equals the first.
std::vector<rules::Match> improving(const State& state, std::vector<Child> children, double tolerance_us) {
  std::erase_if(children, [&](const Child& child) { return child.cost_us >= state.cost_us - tolerance_us; });
  std::ranges::stable_sort(children, {}, &Child::cost_us);
  std::vector<rules::Match> matches;
  for (const Child& child : children) {
    matches.push_back(state.index.matches(child.step.rule)[static_cast<size_t>(child.step.location)]);
  }
  return matches;
}

// Follows those that still lower the cost; what the first one does is known. Null where none could be followed. In
// place: a copy of the graph for each would take time by the square.
StatePtr follow_all(Context& context, const State& start, const std::vector<rules::Match>& wanted) {
  cost::CostModel& measured = context.problem().cost;
  Walk walk(start, context.thread_cost(0), measured, 0, nullptr);
  for (const rules::Match& match : wanted) {
    if (walk.moves() > 0 && !context.may_continue()) break;
    const auto step = find(walk.matches(), match);
    if (!step) continue;
    const size_t unknown = measured.postponed();
    const auto still_pays = [&](const Move& move) {
      if (walk.moves() == 0) return true;
      ++context.counters().candidates;
      return measured.postponed() == unknown && move.delta_us < -context.tolerance_us();
    };
    if (walk.take(*step, still_pays)) ++context.counters().steps;
  }
  if (walk.moves() == 0) return nullptr;
  const Walk::Mark mark = walk.mark();
  context.offer(mark);
  return std::make_shared<const State>(State{mark.graph, mark.index, mark.hash, mark.cost_us, mark.depth, mark.trail});
}

}  // namespace

Result sweep(const Problem& problem, const Options& options) {
  Context context(problem, options);
  StatePtr state = context.start();
  while (state && context.may_continue()) {
    const auto wanted = improving(*state, context.evaluate(state), context.tolerance_us());
    if (wanted.empty()) break;
    const bool gathers = problem.cost.postpone();
    state = follow_all(context, *state, wanted);
    if (gathers) problem.cost.settle();
  }
  return context.finish();
}

}  // namespace rlgo::search

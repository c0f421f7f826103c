#include <algorithm>

#include "core/search/context.h"

namespace rlgo::search {
namespace {

// Where a match of another graph is found in this state; matches move when others come and go.
std::optional<rules::Rewrite> find(const State& state, const rules::Match& wanted) {
  std::optional<rules::Rewrite> found;
  const auto matches = state.index.matches(wanted.rule);
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

// Follows those that still lower the cost; what the first one does is known. Null where none could be followed.
StatePtr follow_all(Context& context, StatePtr state, const std::vector<rules::Match>& wanted) {
  const StatePtr start = state;
  for (const rules::Match& match : wanted) {
    if (state != start && !context.may_continue()) break;
    const auto step = find(*state, match);
    if (!step) continue;
    if (state != start) {
      const auto child = context.evaluate_known(state, *step);
      if (!child || child->cost_us >= state->cost_us - context.tolerance_us()) continue;
    }
    const StatePtr next = context.build(*state, *step);
    if (!next) continue;
    state = next;
    ++context.counters().steps;
    context.offer(*state);
  }
  return state == start ? nullptr : state;
}

}  // namespace

Result sweep(const Problem& problem, const Options& options) {
  Context context(problem, options);
  StatePtr state = context.start();
  while (state && context.may_continue()) {
    const auto wanted = improving(*state, context.evaluate(state), context.tolerance_us());
    if (wanted.empty()) break;
    const bool gathers = problem.cost.postpone();
    state = follow_all(context, state, wanted);
    if (gathers) problem.cost.settle();
  }
  return context.finish();
}

}  // namespace rlgo::search

#include <algorithm>

#include "core/search/context.h"

namespace rlgo::search {

Result greedy(const Problem& problem, const Options& options) {
  Context context(problem, options);
  StatePtr state = context.start();
  while (context.may_continue()) {
    const std::vector<Child> children = context.evaluate(state);
    // The first of equals.
    const auto best = std::ranges::min_element(children, {}, &Child::cost_us);
    if (best == children.end() || best->cost_us >= state->cost_us - context.tolerance_us()) break;
    const StatePtr next = context.build(*state, best->step);
    if (!next) break;
    state = next;
    ++context.counters().steps;
    context.offer(*state);
  }
  return context.finish();
}

}  // namespace rlgo::search

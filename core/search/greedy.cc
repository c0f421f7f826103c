#include <algorithm>

#include "core/search/session.h"

namespace rlgo::search {

Result greedy(const Problem& problem, const Options& options) {
  Session session(problem, options);
  StatePtr state = session.start();
  while (session.may_continue()) {
    const std::vector<Child> children = session.price(state);
    // The first of equals.
    const auto best = std::ranges::min_element(children, {}, &Child::cost_us);
    if (best == children.end() || best->cost_us >= state->cost_us - session.tolerance_us()) break;
    const StatePtr next = session.build(*state, best->step);
    if (!next) break;
    state = next;
    ++session.counters().steps;
    session.offer(*state);
  }
  return session.finish();
}

}  // namespace rlgo::search

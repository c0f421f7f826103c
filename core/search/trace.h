// Traces without redundant rewrites.
#pragma once

#include <functional>

#include "core/search/search.h"

namespace rlgo::search {

struct MinimalTrace {
  rules::Trace trace;
  bool complete = true;  // false where it ended early: some rewrite of the trace may be redundant
};
// The rewrites of a trace of which none can be left out without a higher cost, none undoing another, in their order.
// The cost of their graph is at most that of the trace's. Matches are followed by their nodes, as locations move when a
// rewrite before them is left out. Where prices depend on their surroundings, rewrites are left out only if the same
// graph comes of the others: so nothing needs to be measured. `stop`: ends early, with what is left by then; may be
// empty. A very long trace ends early after some seconds too. Of each rule `max_locations` matches are looked at, or as
// many as the trace needs. Throws Error where the trace does not apply.
MinimalTrace minimal_trace(const Problem& problem, const rules::Trace& trace, int max_locations,
                           const std::function<bool()>& stop);

}  // namespace rlgo::search

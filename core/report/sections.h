// Parts of a report.
#pragma once

#include "core/report/evidence.h"

namespace rlgo::report {

// Before and after side by side: removed operators marked on the left, new ones on the right, those with other inputs
// on both. Graphs of more than 60 boxes open with what did not change folded away.
void add_graphs(Page& page, const Evidence& evidence);
// Operators by kind: how many, and their summed cost, before and after.
void add_operators(Page& page, const Evidence& evidence);
// The rewrites in order, and each rule's text and proof status.
void add_rewrites(Page& page, const Evidence& evidence);

}  // namespace rlgo::report

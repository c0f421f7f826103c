// What is known of the whole numbers that a constant holds, from its term (sym_left_constants.cc makes these).
#pragma once

#include <optional>
#include <utility>

#include "core/rulegen/prove/egraph.h"
#include "core/rulegen/prove/sym_infer.h"

namespace rlgo::rulegen::sym {

// Start and step of a term that is, or is known to be equal to, a slice of 0, 1, 2, ... or a reshape of one.
std::optional<std::pair<ExtentId, ExtentId>> progression(const EGraph& graph, World& world, TermId term);

// Whether the term is a line repeated along all axes but this one. no: it is one along another axis. That suffices for
// a condition of a left side: a constant that varies along no axis is such a line along each, and each has its case.
Truth varies_along(const EGraph& graph, World& world, TermId term, int64_t axis);

}  // namespace rlgo::rulegen::sym

// Which terms have values wherever the left side of the rule has. An equation one side of which reads more elements
// than the other (x * 0 = 0) is true only where these have values: 0 * (1 / x) has none at x = 0. Axioms ask for it by
// total(?x); core/rulegen/check/dependence.h finds where they must.
#pragma once

#include "core/rulegen/prove/egraph.h"
#include "core/rulegen/prove/sym_infer.h"

namespace rlgo::rulegen::sym {

// Whether the term, or one that is known to be equal to it, has values at all elements, for one of two reasons: it is
// made of variables by operators that have values everywhere (not a division but by a number other than 0, not a root,
// a logarithm, a batch norm, ...); or what the rule replaces is computed from all its elements, so that it has no value
// where the term has none (World::goals; scale / sqrt(variance + eps) under a batch norm). Over the reals: overflow is
// not modelled. False states nothing.
bool has_values(const EGraph& graph, World& world, TermId term);

}  // namespace rlgo::rulegen::sym

// Which elements of inputs and weights each output element is computed from, as the operators are written: 0 * x is
// computed from x. Two sides of an equation that are computed from different elements are equal only where those
// elements have values: x * 0 = 0 is false at x = 1 / 0. Axioms state this by total(?x); this finds where they must.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/graph/graph.h"

namespace rlgo::rulegen {

// Names of the inputs and weights of `left` that some output element is computed from on one side only. Both graphs
// have the same outputs. Elements are distinguished by a hash of 6 bits under `seed`: a difference may be missed by
// chance, none is synthetic. Nothing where an operator has no meaning over the reals.
std::set<std::string> read_on_one_side(const graph::Graph& left, const graph::Graph& right, uint64_t seed);

}  // namespace rlgo::rulegen

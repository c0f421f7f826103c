// Whether the made-up values of unknown operators can be compared between two graphs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::exec {

// What the unknown operators of a graph make, as far as it is known: the types of the outputs, by operator (its hash).
using UnknownTypes = std::map<uint64_t, std::set<std::string>>;
UnknownTypes unknown_types(const graph::Graph& graph);

// Names of the outputs of `after` that depend on an unknown operator whose outputs have other types in the graph that
// `before` is of. How much is known of such types depends on how a file is written, not on what it computes; and
// made-up values of other types are other values.
std::set<std::string> incomparable_outputs(const UnknownTypes& before, const graph::Graph& after);

}  // namespace rlgo::exec

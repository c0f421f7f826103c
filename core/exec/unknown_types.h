// Whether the synthetic values of unknown operators can be compared between two graphs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::exec {

// What is known of a graph's unknown operators.
struct UnknownTypes {
  std::map<uint64_t, std::set<std::string>> types;  // of their outputs, by operator (its hash)
  // By name of a graph's output: the unknown operators that it depends on, of those that read what is computed of
  // constants alone.
  std::map<std::string, std::set<uint64_t>> on_constants;
};
UnknownTypes unknown_types(const graph::Graph& graph);

// Names of the outputs of `after` that depend on an unknown operator whose outputs have other types in the graph that
// `before` is of, or that depended there on one of on_constants and do so no more. How much is known of types, and
// which constants are computed as a file is read, depends on how the file is written, not on what it computes; and
// synthetic values of other types are other values, as are values that are computed.
std::set<std::string> incomparable_outputs(const UnknownTypes& before, const graph::Graph& after);

}  // namespace rlgo::exec

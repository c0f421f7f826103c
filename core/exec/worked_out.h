// What a model's file computes from its weights alone, as a runtime does it.
#pragma once

#include <functional>
#include <string>

#include "core/base/deadline.h"
#include "core/graph/graph.h"

namespace rlgo::exec {

// The graph with a weight in the place of each constant operator whose result is rounded: arithmetic on floats, casts
// that lose digits. Each such result is rounded to its own type, as a runtime rounds it, before the next one is
// computed from it: `w - float(half(w))` is the part of w that half cannot hold, and 0 where it is computed in one
// go. Operators that only move, choose or widen numbers stay, and those that would take too much arithmetic
// (left_unfolded). Where contents are absent the weights are absent, too;
// their content hashes are the same in both cases (they come from the operators). `name_of`: a name for a value's
// weight, or "". Throws Error where a kernel fails, Stopped when the deadline has come.
graph::Graph work_out_constants(graph::Graph graph, const std::function<std::string(graph::Value)>& name_of,
                                const Deadline& deadline = {});

}  // namespace rlgo::exec

// What rules ask about the whole numbers that a constant holds: indices, mostly.
#pragma once

#include <cstdint>
#include <optional>

#include "core/graph/graph.h"

namespace rlgo::rules {

// Numbers that are equally far apart: first, first + step, first + 2 step, ...
struct Progression {
  int64_t first = 0;  // 0 at least
  int64_t step = 1;   // 1 at least; of a single number: 1
  bool operator==(const Progression&) const = default;
};

// Of all elements of a constant in their order in memory. Nothing where they do not rise so from 0 or more, where the
// value is no weight, literal or fill of integers (i32, i64) whose contents are here, or where it has no elements or
// more than 2^22.
std::optional<Progression> progression(const graph::Graph& graph, graph::Value value);

// Whether elements of such a constant that differ in other places than along `axis` (0 .. rank - 1) are equal. False
// where its contents are not known, as above.
bool varies_along(const graph::Graph& graph, graph::Value value, int64_t axis);

}  // namespace rlgo::rules

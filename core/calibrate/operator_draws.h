// Graphs of one operator with drawn sizes.
#pragma once

#include <functional>
#include <span>

#include "core/base/rng.h"
#include "core/graph/graph.h"

namespace rlgo::calibrate {

// Draws sizes; the operator makes the graph's first output. One for each kind of operator (operator_kind), several for
// matmul and elementwise.
using OperatorDraw = std::function<graph::Graph(Rng& rng)>;
std::span<const OperatorDraw> operator_draws();

}  // namespace rlgo::calibrate

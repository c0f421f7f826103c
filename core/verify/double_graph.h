// A graph whose own types are those that checks compute in.
#pragma once

#include "core/graph/graph.h"

namespace rlgo::verify {

// The same graph with every float as f64: inputs, weights, what operators make. What any runtime computes from it is
// comparable with core/evaluate's Precision::f64. Throws Error where contents of weights are absent, where an operator
// is one that rlgo does not know, and where one does not take f64.
graph::Graph in_double_precision(const graph::Graph& graph);

}  // namespace rlgo::verify

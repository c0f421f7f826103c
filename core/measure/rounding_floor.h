// Rounding that a runtime may show whatever the size of an output.
#pragma once

#include <map>
#include <string>

#include "core/graph/graph.h"

namespace rlgo::measure {

// Absolute differences that rounding explains, of those outputs that have one, by name: runtimes work sigmoid and tanh
// out with an error that is a part of 1, not of the value (ONNX Runtime 1.31: up to 1.7e-7 and 3.1e-7 on [-40, 40]).
// Where they are saturated at 0, nothing but that error is left of an output. Reads through operators that only move
// numbers.
std::map<std::string, double> rounding_floors(const graph::Graph& graph);

}  // namespace rlgo::measure

// Numbers for inputs whose values mean something: sampling rates, lengths, sizes.
#pragma once

#include <span>
#include <string>

#include "core/cost/runtime.h"
#include "core/graph/graph.h"

namespace rlgo::optimise {

// Of "NAME=VALUE" or "NAME=VALUE,VALUE,...". Throws Error where the graph has no such input or a value is no number.
cost::InputValues parse_inputs(std::span<const std::string> texts, const graph::Graph& graph);
// "sr = 16000, size = 480,640".
std::string to_text(const cost::InputValues& values);
// "x 2x48, sr (one number)": shapes that open inputs run with; "" where all are fixed.
std::string shapes_text(const graph::Graph& graph);

}  // namespace rlgo::optimise

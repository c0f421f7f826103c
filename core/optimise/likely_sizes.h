// Sizes of open dimensions with which models run that do not run with synthetic ones.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/onnx.h"
#include "core/optimise/inputs.h"

namespace rlgo::optimise {

// Sets of sizes (>= 1), the likeliest first: pictures, lines of text, frames of sound, what the model's first weights
// fit; dimensions may need different ones, the batch may have to be 1, states may share the batch. `places`: where
// inputs have open dimensions. `given`: sizes that are fixed. `fitting`: extents that suit the model (fitting_extents).
std::vector<Sizes> likely_sizes(std::span<const onnx_io::OpenDim> places, const Sizes& given,
                                std::span<const int64_t> fitting);

// Extents (2 to 8192) of the weights that operators near the inputs read, each once, in the order in which they are
// met.
std::vector<int64_t> fitting_extents(const graph::Graph& graph);

}  // namespace rlgo::optimise

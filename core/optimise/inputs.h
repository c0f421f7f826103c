// Values of inputs that mean something: sampling rates, lengths, sizes, texts.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/cost/runtime.h"
#include "core/graph/graph.h"
#include "core/onnx/onnx.h"

namespace rlgo::optimise {

// Of "NAME=VALUE" or "NAME=VALUE,VALUE,...". Throws Error where the graph has no such input, or a value of
// one that holds numbers is no number.
cost::InputValues parse_inputs(std::span<const std::string> texts, const graph::Graph& graph);
// "sr = 16000, size = 480,640".
std::string to_text(const cost::InputValues& values);
// "x 2x48, sr (one number)": shapes that open inputs run with; "" where all are fixed.
std::string shapes_text(const graph::Graph& graph);

// Sizes of open dimensions, by name.
using Sizes = std::map<std::string, int64_t>;
// Sets of sizes that have nothing in common with `samples` or each other: ones, primes, large ones, and what stacks of
// convolutions can take. The likeliest to find a fault first; a model need not admit all of them.
std::vector<Sizes> check_sizes(const Sizes& samples);
// Of "NAME=SIZE" and "INPUT:AXIS=SIZE", by the name of the dimension; what is none is left out.
Sizes given_sizes(std::span<const std::string> texts, std::span<const onnx_io::OpenDim> places);
// "h=7, w=11".
std::string to_text(const Sizes& sizes);
// "--size h=48 --dim n=1": sample sizes are 2 or more, a size of 1 is one that is fixed.
std::string as_options(const Sizes& sizes);

}  // namespace rlgo::optimise

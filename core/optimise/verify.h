// That a rewritten model computes the same as the one it was made from, and that the file written is that model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/measure/measurer.h"
#include "core/optimise/model.h"
#include "core/optimise/optimise.h"

namespace rlgo::launch {

// Shapes of all inputs that have one, by name: at the sample sizes, or at the second ones of open dimensions.
std::map<std::string, std::vector<int64_t>> input_shapes(const graph::Graph& graph, bool second_sizes = false);

// Reads the file of the chosen attempt again, and compares outputs on made-up inputs: by LibTorch, and by the target
// (`measurer`, null for LibTorch; at two sizes where dimensions are open) where it answers with outputs. Adds to
// story.checks. Throws Error where they differ, or where nothing could compare them and request.force is not set.
void verify(const OptimiseRequest& request, const LoadedModel& model, measure::Measurer* measurer, Story& story);

// Operators of the model that round to few bits, "DynamicQuantizeLinear 22"; "" for none.
std::string coarse_steps(const graph::Graph& graph);

// Writes the chosen attempt to request.out and reads it again. Throws Error where what is read is another model; the
// file is then removed.
void write_and_read_again(const OptimiseRequest& request, const LoadedModel& model, const Story& story);

}  // namespace rlgo::launch

// Made-up contents for inputs: seeded, the same in every run on a machine.
#pragma once

#include <map>
#include <string>

#include "core/exec/tensors.h"
#include "core/graph/graph.h"

namespace rlgo::exec {

// Tensors by name of a graph input or output.
using TensorMap = std::map<std::string, at::Tensor>;
// Relative errors by name of a graph output.
using OutputErrors = std::map<std::string, double>;

// On the CPU: f64 numbers with mean 0 and deviation 1, normal or (ten times as fast) uniform; i64 numbers in [0,
// bound).
at::Tensor seeded_normal(at::IntArrayRef sizes, uint64_t seed);
at::Tensor seeded_uniform(at::IntArrayRef sizes, uint64_t seed);
at::Tensor seeded_integers(at::IntArrayRef sizes, int64_t bound, uint64_t seed);

// For each value of the graph (node id, then port): the number below which integers must stay where the graph may use
// them to index a gather, followed through operators that move integers or cast them; at most kIndexBound.
std::vector<std::vector<int64_t>> index_bounds(const graph::Graph& graph);

// One value of type `type`: floats are normal * magnitude, integers are in [0, bound), booleans 0 or 1.
at::Tensor random_value(const ops::TensorType& type, uint64_t seed, double magnitude, int64_t bound);

// A value for every input of the graph, by name, on the CPU. The same name, type and seed give the same value in every
// graph whose gathers have the same bounds. `masks`: tensors of integers that no gather bounds below kIndexBound are 0
// or 1.
TensorMap random_inputs(const graph::Graph& graph, uint64_t seed, double magnitude = 1.0, bool masks = false);

}  // namespace rlgo::exec

// Synthetic contents for inputs: seeded, the same in every run.
#pragma once

#include <vector>

#include "core/base/hash.h"
#include "core/evaluate/kernels.h"
#include "core/graph/graph.h"

namespace rlgo::evaluate {

// f64 numbers with mean 0 and deviation 1, normal or (ten times as fast) uniform; i64 numbers in [0, bound).
Tensor seeded_normal(const ops::Shape& shape, uint64_t seed);
Tensor seeded_uniform(const ops::Shape& shape, uint64_t seed);
Tensor seeded_integers(const ops::Shape& shape, int64_t bound, uint64_t seed);
// Element `place` of seeded_uniform() with this seed.
inline double seeded_uniform_at(uint64_t seed, int64_t place) {
  constexpr double kHalfWidth = 1.7320508075688772;  // of a uniform distribution with deviation 1
  const uint64_t mixed = mix64(seed + 1 + static_cast<uint64_t>(place));
  return kHalfWidth * (static_cast<double>(mixed >> 11) * 0x1.0p-52 - 1);
}

// For each value of the graph (node id, then port): the number below which integers must stay where the graph may use
// them to index a gather, followed through operators that move integers or cast them; at most kIndexBound.
std::vector<std::vector<int64_t>> index_bounds(const graph::Graph& graph);

// One value of type `type`: floats are normal * magnitude, integers are in [0, bound), booleans 0 or 1.
Tensor random_value(const ops::TensorType& type, uint64_t seed, double magnitude, int64_t bound);

// A value for every input of the graph, by name. The same name, type and seed give the same value in every graph whose
// gathers have the same bounds. `masks`: tensors of integers that no gather bounds below kIndexBound are 0 or 1.
TensorMap random_inputs(const graph::Graph& graph, uint64_t seed, double magnitude = 1.0, bool masks = false);

}  // namespace rlgo::evaluate

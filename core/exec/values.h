// Synthetic contents for inputs (core/evaluate/values.h), as LibTorch's tensors on the CPU.
#pragma once

#include <map>
#include <string>

#include "core/evaluate/values.h"
#include "core/exec/tensors.h"

namespace rlgo::exec {

using evaluate::kIndexBound;
// Tensors by name of a graph input or output.
using TensorMap = std::map<std::string, at::Tensor>;

// See rlgo::evaluate.
inline at::Tensor random_value(const ops::TensorType& type, uint64_t seed, double magnitude, int64_t bound) {
  return to_torch(evaluate::random_value(type, seed, magnitude, bound));
}
// See rlgo::evaluate.
inline TensorMap random_inputs(const graph::Graph& graph, uint64_t seed, double magnitude = 1.0) {
  TensorMap inputs;
  for (const auto& [name, tensor] : evaluate::random_inputs(graph, seed, magnitude)) inputs[name] = to_torch(tensor);
  return inputs;
}

}  // namespace rlgo::exec

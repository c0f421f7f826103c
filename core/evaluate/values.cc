#include "core/exec/values.h"

#include <ATen/CPUGeneratorImpl.h>

#include <span>

#include "core/base/hash.h"
#include "core/exec/kernels.h"

namespace rlgo::exec {
namespace {

using ops::Op;

// Outputs hold elements of (or integers computed one by one from) the first inputs without making them larger.
bool moves_elements(Op op) {
  switch (op) {
    case Op::concat:
    case Op::split:
    case Op::transpose:
    case Op::reshape:
    case Op::slice:
    case Op::pad:
    case Op::cast:
    case Op::expand:
    case Op::where:
    case Op::min:
    case Op::max:
      return true;
    default:
      return false;
  }
}

}  // namespace

at::Tensor seeded_normal(at::IntArrayRef sizes, uint64_t seed) {
  return at::randn(sizes, at::detail::createCPUGenerator(mix64(seed)), at::TensorOptions(at::kDouble));
}

at::Tensor seeded_uniform(at::IntArrayRef sizes, uint64_t seed) {
  constexpr double kHalfWidth = 1.7320508075688772;  // of a uniform distribution with deviation 1
  at::Tensor out = at::empty(sizes, at::TensorOptions(at::kDouble));
  const std::span<double> to(out.data_ptr<double>(), static_cast<size_t>(out.numel()));
  for (double& value : to) value = kHalfWidth * (static_cast<double>(mix64(++seed) >> 11) * 0x1.0p-52 - 1);
  return out;
}

at::Tensor seeded_integers(at::IntArrayRef sizes, int64_t bound, uint64_t seed) {
  return at::randint(0, std::max<int64_t>(bound, 1), sizes, at::detail::createCPUGenerator(mix64(seed)),
                     at::TensorOptions(at::kLong));
}

std::vector<std::vector<int64_t>> index_bounds(const graph::Graph& graph) {
  std::vector<std::vector<int64_t>> bounds(static_cast<size_t>(graph.id_bound()));
  const auto order = graph.order();
  for (graph::NodeId id : order) bounds[id].assign(graph.node(id).info->outputs.size(), kIndexBound);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto& node = graph.node(*it);
    if (node.op() == Op::gather) {
      int64_t& indices = bounds[node.inputs[1].node][node.inputs[1].port];
      indices = std::min(indices, graph.type(node.inputs[0]).shape[node.attrs().i(ops::Attr::axis)]);
    }
    int64_t needed = kIndexBound;
    for (int64_t bound : bounds[*it]) needed = std::min(needed, bound);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const bool passes = moves_elements(node.op()) || (node.op() == Op::gather && k == 0);
      int64_t& bound = bounds[node.inputs[k].node][node.inputs[k].port];
      if (passes) bound = std::min(bound, needed);
    }
  }
  return bounds;
}

at::Tensor random_value(const ops::TensorType& type, uint64_t seed, double magnitude, int64_t bound) {
  const auto dtype = to_torch(type.dtype);
  if (ops::is_float(type.dtype) || type.dtype == ops::DType::other) {
    return (seeded_normal(sizes_of(type), seed) * magnitude).to(dtype);
  }
  return seeded_integers(sizes_of(type), type.dtype == ops::DType::boolean ? 2 : bound, seed).to(dtype);
}

TensorMap random_inputs(const graph::Graph& graph, uint64_t seed, double magnitude, bool masks) {
  const auto bounds = index_bounds(graph);
  TensorMap inputs;
  for (graph::NodeId id : graph.inputs()) {
    const auto& info = *graph.node(id).info;
    const auto& type = info.outputs[0];
    const bool mask = masks && bounds[id][0] == kIndexBound && c10::multiply_integers(sizes_of(type)) > 1;
    inputs[info.name] = random_value(type, hash_string(info.name, seed), magnitude, mask ? 2 : bounds[id][0]);
  }
  return inputs;
}

}  // namespace rlgo::exec

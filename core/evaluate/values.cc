#include "core/evaluate/values.h"

#include <cmath>
#include <numbers>

#include "core/evaluate/kernels.h"
#include "core/ops/moves.h"

namespace rlgo::evaluate {
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

// By the method of Box and Muller (1958): two numbers from two.
Tensor seeded_normal(const ops::Shape& shape, uint64_t seed) {
  Tensor out(ops::DType::f64, shape);
  auto* to = out.data<double>();
  uint64_t next = mix64(seed);
  const auto uniform = [&] { return static_cast<double>((mix64(++next) >> 11) + 1) * 0x1.0p-53; };  // above 0
  for (int64_t i = 0; i < out.elements(); i += 2) {
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * std::numbers::pi * uniform();
    to[i] = radius * std::cos(angle);
    if (i + 1 < out.elements()) to[i + 1] = radius * std::sin(angle);
  }
  return out;
}

Tensor seeded_uniform(const ops::Shape& shape, uint64_t seed) {
  Tensor out(ops::DType::f64, shape);
  for (int64_t i = 0; i < out.elements(); ++i) out.data<double>()[i] = seeded_uniform_at(seed, i);
  return out;
}

Tensor seeded_integers(const ops::Shape& shape, int64_t bound, uint64_t seed) {
  Tensor out(ops::DType::i64, shape);
  const auto below = static_cast<uint64_t>(std::max<int64_t>(bound, 1));
  uint64_t next = mix64(seed);
  for (int64_t i = 0; i < out.elements(); ++i) out.data<int64_t>()[i] = static_cast<int64_t>(mix64(++next) % below);
  return out;
}

std::vector<std::vector<int64_t>> index_bounds(const graph::Graph& graph) {
  std::vector<std::vector<int64_t>> bounds(static_cast<size_t>(graph.id_bound()));
  const auto order = graph.order();
  for (graph::NodeId id : order) bounds[id].assign(graph.node(id).info->outputs.size(), kIndexBound);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto& node = graph.node(*it);
    if (ops::holds_places(node.op(), 1)) {
      int64_t& places = bounds[node.inputs[1].node][node.inputs[1].port];
      const auto &x = graph.type(node.inputs[0]), &listed = graph.type(node.inputs[1]);
      places = std::min(places, ops::places_end(node.op(), x, listed, node.attrs()));
    }
    int64_t needed = kIndexBound;
    for (int64_t bound : bounds[*it]) needed = std::min(needed, bound);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const bool passes = moves_elements(node.op()) || (ops::holds_places(node.op(), 1) && k != 1);
      int64_t& bound = bounds[node.inputs[k].node][node.inputs[k].port];
      if (passes) bound = std::min(bound, needed);
    }
  }
  return bounds;
}

Tensor random_value(const ops::TensorType& type, uint64_t seed, double magnitude, int64_t bound) {
  const auto dtype = held(type.dtype, Precision::native);
  if (!ops::is_float(dtype))
    return cast(seeded_integers(type.shape, type.dtype == ops::DType::boolean ? 2 : bound, seed), dtype);
  Tensor normal = seeded_normal(type.shape, seed);
  for (int64_t i = 0; i < normal.elements(); ++i) normal.data<double>()[i] *= magnitude;
  return cast(normal, dtype);
}

TensorMap random_inputs(const graph::Graph& graph, uint64_t seed, double magnitude, bool masks) {
  const auto bounds = index_bounds(graph);
  TensorMap inputs;
  for (graph::NodeId id : graph.inputs()) {
    const auto& info = *graph.node(id).info;
    const auto& type = info.outputs[0];
    const bool mask = masks && bounds[id][0] == kIndexBound && Tensor(type.dtype, type.shape).elements() > 1;
    inputs[info.name] = random_value(type, hash_string(info.name, seed), magnitude, mask ? 2 : bounds[id][0]);
  }
  return inputs;
}

}  // namespace rlgo::evaluate

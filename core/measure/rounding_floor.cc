#include "core/measure/rounding_floor.h"

#include <limits>
#include <set>
#include <vector>

namespace rlgo::measure {
namespace {

using ops::Op;

constexpr double kFloor = 4 * static_cast<double>(std::numeric_limits<float>::epsilon());  // 4.8e-7

bool only_moves(Op op) {
  switch (op) {
    case Op::concat:
    case Op::expand:
    case Op::gather:
    case Op::depth_to_space:
    case Op::space_to_depth:
    case Op::reshape:
    case Op::slice:
    case Op::split:
    case Op::transpose:
      return true;
    default:
      return false;
  }
}

// All that the value's numbers come from.
bool has_floor(const graph::Graph& graph, graph::Value value) {
  std::vector<graph::NodeId> left = {value.node};
  std::set<graph::NodeId> seen = {value.node};
  while (!left.empty()) {
    const graph::Node& node = graph.node(left.back());
    left.pop_back();
    const Op op = node.op();
    if (op == Op::sigmoid || op == Op::hard_sigmoid || op == Op::tanh) continue;
    if (!only_moves(op)) return false;
    const size_t moved = op == Op::concat ? node.inputs.size() : 1;  // others hold places
    for (size_t k = 0; k < moved; ++k)
      if (seen.insert(node.inputs[k].node).second) left.push_back(node.inputs[k].node);
  }
  return true;
}

}  // namespace

std::map<std::string, double> rounding_floors(const graph::Graph& graph) {
  std::map<std::string, double> out;
  for (const auto& output : graph.outputs())
    if (graph.type(output.value).dtype == ops::DType::f32 && has_floor(graph, output.value)) out[output.name] = kFloor;
  return out;
}

}  // namespace rlgo::measure

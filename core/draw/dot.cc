#include "core/base/error.h"
#include "core/draw/svg.h"
#include "core/graph/quote.h"
#include "core/graph/text.h"

namespace rlgo::graph {
namespace {

// Main attributes for pictures: those that differ from their defaults.
std::string label(const Graph& graph, NodeId id) {
  const NodeInfo& info = *graph.node(id).info;
  std::string text = info.op == ops::Op::opaque ? info.opaque->op_type : std::string(ops::name(info.op));
  if (info.op == ops::Op::input) text = info.name;
  for (const auto& spec : ops::spec(info.op).attrs) {
    const ops::AttrValue* value = info.attrs.find(spec.key);
    if (value != nullptr && *value != spec.fallback)
      text += fmt::format("\n{}={}", ops::name(spec.key), ops::to_string(*value));
  }
  for (const auto& type : info.outputs) text += '\n' + ops::to_string(type);
  return text;
}

std::string_view style(ops::Op op) {
  switch (op) {
    case ops::Op::input:
      return "shape=ellipse";
    case ops::Op::conv2d:
    case ops::Op::matmul:
      return "shape=box, style=filled, fillcolor=lightblue";
    case ops::Op::opaque:
      return "shape=box, style=filled, fillcolor=lightgrey";
    default:
      return "shape=box";
  }
}

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string out = fmt::format("digraph {} {{\n  node [fontname=\"Helvetica\", fontsize=10];\n", quoted(graph.name()));
  for (const NodeId id : graph.order()) {
    if (!is_drawn(graph, id)) continue;
    out += fmt::format("  n{} [label={}, {}];\n", graph.position(id), quoted(label(graph, id)),
                       style(graph.node(id).op()));
    for (const Value& input : graph.node(id).inputs) {
      if (!is_drawn(graph, input.node)) continue;
      out += fmt::format("  n{} -> n{};\n", graph.position(input.node), graph.position(id));
    }
  }
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    const GraphOutput& output = graph.outputs()[k];
    out += fmt::format("  o{} [label={}, shape=ellipse];\n", k, quoted(output.name));
    out += fmt::format("  n{} -> o{};\n", graph.position(output.value.node), k);
  }
  return out + "}\n";
}

}  // namespace rlgo::graph

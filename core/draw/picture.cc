#include <map>
#include <unordered_map>

#include "core/base/error.h"
#include "core/draw/svg.h"

namespace rlgo::graph {
namespace {

std::string title(const NodeInfo& info) {
  if (info.op == ops::Op::input) return info.name;
  if (info.op == ops::Op::opaque) return info.opaque->op_type;
  return std::string(ops::name(info.op));
}

std::string_view look(ops::Op op) {
  switch (op) {
    case ops::Op::input:
      return "leaf";
    case ops::Op::conv2d:
    case ops::Op::matmul:
      return "heavy";
    case ops::Op::opaque:
      return "opaque";
    default:
      return "op";
  }
}

// Name in the file, attributes other than their defaults, types of inputs and outputs.
std::string about(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::string text = title(*node.info);
  if (!node.info->name.empty() && node.op() != ops::Op::input) text += " '" + node.info->name + "'";
  for (const auto& spec : ops::spec(node.op()).attrs) {
    const ops::AttrValue* value = node.attrs().find(spec.key);
    if (value != nullptr && *value != spec.fallback)
      text += fmt::format("\n{}={}", ops::name(spec.key), ops::to_string(*value));
  }
  for (const Value& input : node.inputs) {
    text += fmt::format("\nin  {}{}", ops::to_string(graph.type(input)),
                        graph.node(input.node).constant ? " constant" : "");
  }
  for (const auto& type : node.info->outputs) text += "\nout " + ops::to_string(type);
  return text;
}

Box box_of(const Graph& graph, NodeId id, const PictureOptions& options) {
  const NodeInfo& info = *graph.node(id).info;
  Box box;
  box.title = title(info);
  box.id = fmt::format("{}", id);
  box.look = look(info.op);
  box.about = about(graph, id);
  if (info.op == ops::Op::conv2d) box.lines.push_back("kernel " + ops::to_string(graph.type(graph.node(id).inputs[1])));
  for (const auto& type : info.outputs) box.lines.push_back(ops::to_string(type));
  if (options.mark) {
    const auto mark = options.mark(id);
    if (!mark.empty()) box.look += " " + std::string(mark);
  }
  if (options.note) {
    auto note = options.note(id);
    if (!note.empty()) box.lines.push_back(std::move(note));
  }
  return box;
}

// By node id: true where the node keeps a box of its own.
std::vector<bool> shown(const Graph& graph, const PictureOptions& options) {
  std::vector<bool> keep(static_cast<size_t>(graph.id_bound()), !options.only_marked || !options.mark);
  if (keep.empty() || keep[0]) return keep;
  for (const NodeId id : graph.order()) {
    if (!is_drawn(graph, id) || options.mark(id).empty()) continue;
    keep[id] = true;
    for (const Value& input : graph.node(id).inputs) keep[input.node] = true;
    for (const Use& use : graph.node(id).uses) keep[use.user] = true;
  }
  return keep;
}

// A run of folded nodes, by operator.
struct Run {
  int box = -1;
  int nodes = 0;
  std::map<std::string, int> by_title;
};

void finish(Run& run, Picture& picture) {
  if (run.box < 0) return;
  Box& box = picture.boxes[run.box];
  box.title = fmt::format("{} unchanged", run.nodes);
  box.look = "hidden";
  for (const auto& [name, count] : run.by_title)
    box.about += fmt::format("{}{} x {}", box.about.empty() ? "" : "\n", count, name);
  run = {};
}

}  // namespace

bool is_drawn(const Graph& graph, NodeId id) { return !graph.node(id).constant || graph.is_output(id); }

Picture picture(const Graph& graph, const PictureOptions& options) {
  Picture out;
  out.name = graph.name();
  const auto keep = shown(graph, options);
  std::unordered_map<NodeId, int> box_of_node;
  // An interval of the topological order may become one box without making a cycle.
  Run run;
  for (const NodeId id : graph.order()) {
    if (!is_drawn(graph, id)) continue;
    const bool folded = !keep[id];
    if (!folded) finish(run, out);
    if (!folded || run.box < 0) out.boxes.push_back(folded ? Box{} : box_of(graph, id, options));
    const int box = static_cast<int>(out.boxes.size()) - 1;
    box_of_node[id] = box;
    if (folded) {
      run.box = box;
      ++run.nodes;
      ++run.by_title[title(*graph.node(id).info)];
    }
    for (const Value& input : graph.node(id).inputs) {
      const auto from = box_of_node.find(input.node);
      if (from == box_of_node.end() || from->second == box) continue;
      out.arrows.push_back(
          {from->second, box,
           graph.node(input.node).info->outputs.size() > 1 && !folded ? fmt::format("{}", input.port) : "", ""});
    }
  }
  finish(run, out);
  for (const GraphOutput& output : graph.outputs()) {
    out.arrows.push_back({box_of_node.at(output.value.node), static_cast<int>(out.boxes.size()), "", ""});
    out.boxes.push_back({output.name, {ops::to_string(graph.type(output.value))}, "leaf", "output " + output.name, ""});
  }
  return out;
}

}  // namespace rlgo::graph

#include "core/onnx/names.h"

#include <onnx/onnx_pb.h>

namespace rlgo::onnx_io {
namespace {

using Set = std::unordered_set<std::string>;

// Names that a graph itself gives to values.
Set defined_names(const onnx::GraphProto& graph) {
  Set names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const auto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  return names;
}

template <typename Node, typename Visit>
void for_each_subgraph(Node& node, const Visit& visit) {
  if constexpr (std::is_const_v<Node>) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) visit(attribute.g());
      for (const auto& graph : attribute.graphs()) visit(graph);
    }
  } else {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) visit(graph);
    }
  }
}

// Names that `graph` uses but does not define.
void free_names(const onnx::GraphProto& graph, std::vector<std::string>& found, Set& seen) {
  const Set own = defined_names(graph);
  const auto use = [&](const std::string& name) {
    if (!name.empty() && !own.contains(name) && seen.insert(name).second) found.push_back(name);
  };
  for (const auto& node : graph.node()) {
    for (const auto& input : node.input()) use(input);
    for (const auto& name : captured_names(node)) use(name);
  }
  for (const auto& output : graph.output()) use(output.name());
}

void visit_free(onnx::GraphProto& graph, const std::function<void(std::string&)>& visit) {
  const Set own = defined_names(graph);
  const auto use = [&](std::string& name) {
    if (!name.empty() && !own.contains(name)) visit(name);
  };
  for (auto& node : *graph.mutable_node()) {
    for (auto& input : *node.mutable_input()) use(input);
    visit_captured(node, use);
  }
  for (auto& output : *graph.mutable_output()) use(*output.mutable_name());
}

}  // namespace

std::vector<std::string> free_names(const onnx::GraphProto& graph) {
  std::vector<std::string> found;
  Set seen;
  free_names(graph, found, seen);
  return found;
}

std::vector<std::string> captured_names(const onnx::NodeProto& node) {
  std::vector<std::string> found;
  Set seen;
  for_each_subgraph(node, [&](const onnx::GraphProto& graph) { free_names(graph, found, seen); });
  return found;
}

void visit_captured(onnx::NodeProto& node, const std::function<void(std::string&)>& visit) {
  for_each_subgraph(node, [&](onnx::GraphProto& graph) { visit_free(graph, visit); });
}

void collect_names(const onnx::GraphProto& graph, Set& names) {
  names.merge(defined_names(graph));
  for (const auto& node : graph.node()) collect_names(node, names);
  for (const auto& output : graph.output()) names.insert(output.name());
}

void collect_names(const onnx::NodeProto& node, Set& names) {
  names.insert(node.input().begin(), node.input().end());
  names.insert(node.output().begin(), node.output().end());
  for_each_subgraph(node, [&](const onnx::GraphProto& graph) { collect_names(graph, names); });
}

}  // namespace rlgo::onnx_io

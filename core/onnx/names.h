// Names of values across a graph and the subgraphs inside its nodes.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace rlgo::onnx_io {

// Names that the subgraphs of a node (If, Loop, Scan) take from the graph around the node, in order of first
// appearance.
std::vector<std::string> captured_names(const onnx::NodeProto& node);
// The same for one such subgraph.
std::vector<std::string> free_names(const onnx::GraphProto& graph);
// Shows each place where a subgraph reads such a name, in order; `visit` may write another name there.
void visit_captured(onnx::NodeProto& node, const std::function<void(std::string& name)>& visit);
// Adds the names of all values in the graph, nested ones included.
void collect_names(const onnx::GraphProto& graph, std::unordered_set<std::string>& names);
void collect_names(const onnx::NodeProto& node, std::unordered_set<std::string>& names);

}  // namespace rlgo::onnx_io

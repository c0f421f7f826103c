#include "core/onnx/bodies.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/onnx/names.h"
#include "core/onnx/proto.h"
#include "core/ops/folding.h"

namespace rlgo::onnx_io {
namespace {

constexpr int64_t kOldestIrVersion = 4;
constexpr int64_t kMostCopied = 16;                     // elements of a constant that goes into several bodies
constexpr int64_t kMostMovedBytes = int64_t{64} << 20;  // in all

using Set = std::unordered_set<std::string>;
using Bodies = std::vector<onnx::GraphProto*>;

bool has_bodies(const onnx::NodeProto& node) {
  return node.domain().empty() && (node.op_type() == "If" || node.op_type() == "Loop" || node.op_type() == "Scan");
}

Bodies bodies_of(onnx::GraphProto& graph) {
  Bodies bodies;
  for (auto& node : *graph.mutable_node()) {
    if (!has_bodies(node)) continue;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) bodies.push_back(attribute.mutable_g());
    }
  }
  return bodies;
}

// The tensor of a Constant; null where the node is none or its value is something else.
onnx::TensorProto* constant_tensor(onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || !node.domain().empty() || node.attribute_size() != 1 || node.output_size() != 1)
    return nullptr;
  auto& attribute = *node.mutable_attribute(0);
  return attribute.name() == "value" && attribute.has_t() ? attribute.mutable_t() : nullptr;
}

class Mover {
 public:
  explicit Mover(onnx::ModelProto& model) : model_(model) {
    for (const auto& annotation : model.graph().quantization_annotation()) {
      for (const auto& entry : annotation.quant_parameter_tensor_names()) pinned_.insert(entry.value());
    }
    for (const auto& function : model.functions()) {
      if (function.domain().empty()) has_own_standard_operators_ = true;
    }
  }

  std::vector<Change> run() {
    if (model_.ir_version() >= kOldestIrVersion && !has_own_standard_operators_) move_from(*model_.mutable_graph());
    return std::move(moved_);
  }

 private:
  void move_from(onnx::GraphProto& graph) {
    const Bodies bodies = bodies_of(graph);
    if (bodies.empty()) return;
    if (graph.initializer_size() > 0 || std::ranges::any_of(graph.node(), is_constant)) {
      find_readers(graph, bodies);
      move_initialisers(graph);
      move_constant_operators(graph);
    }
    for (auto* body : bodies) move_from(*body);
  }

  static bool is_constant(const onnx::NodeProto& node) { return node.op_type() == "Constant"; }

  // Which bodies read a name, and what else in the graph needs it where it is.
  void find_readers(onnx::GraphProto& graph, const Bodies& bodies) {
    staying_ = pinned_;
    readers_.clear();
    for (const auto& input : graph.input()) staying_.insert(input.name());
    for (const auto& output : graph.output()) staying_.insert(output.name());
    for (const auto& node : graph.node()) {
      staying_.insert(node.input().begin(), node.input().end());
      if (has_bodies(node)) continue;
      for (auto& name : captured_names(node)) staying_.insert(std::move(name));
    }
    for (auto* body : bodies) {
      for (const auto& name : free_names(*body)) readers_[name].push_back(body);
    }
  }

  // Copies the tensor into all bodies that read it; false where it has to stay.
  bool move_tensor(const std::string& name, const onnx::TensorProto& tensor,
                   const onnx::NodeProto* constant = nullptr) {
    const auto found = readers_.find(name);
    if (found == readers_.end() || staying_.contains(name)) return false;
    const Bodies& readers = found->second;
    const auto type = tensor_type_of(tensor);
    if (readers.size() > 1 && type.elements() > kMostCopied) return false;
    const auto bytes = static_cast<int64_t>(tensor.ByteSizeLong()), copies = static_cast<int64_t>(readers.size());
    if (bytes > kMostMovedBytes - moved_bytes_ || bytes * (copies - 1) > ops::kMostGrowthOfStep - copied_bytes_)
      return false;
    moved_bytes_ += bytes;
    copied_bytes_ += bytes * (copies - 1);
    for (auto* body : readers) {
      auto& copy = *body->add_initializer();
      copy = tensor;
      copy.set_name(name);
      if (constant == nullptr) continue;
      copy.clear_doc_string();
      copy.clear_metadata_props();
      add_notes(copy, notes_of(*constant, tensor));
    }
    moved_.push_back({Change::Kind::moved, constant != nullptr ? "Constant" : "initialiser", name, {}});
    return true;
  }

  void move_initialisers(onnx::GraphProto& graph) {
    auto& tensors = *graph.mutable_initializer();
    int kept = 0;
    for (int k = 0; k < tensors.size(); ++k) {
      if (!move_tensor(tensors[k].name(), tensors[k])) tensors.SwapElements(kept++, k);
    }
    tensors.DeleteSubrange(kept, tensors.size() - kept);
  }

  void move_constant_operators(onnx::GraphProto& graph) {
    auto& nodes = *graph.mutable_node();
    int kept = 0;
    for (int k = 0; k < nodes.size(); ++k) {
      const auto* tensor = constant_tensor(nodes[k]);
      if (tensor == nullptr || !move_tensor(nodes[k].output(0), *tensor, &nodes[k])) nodes.SwapElements(kept++, k);
    }
    nodes.DeleteSubrange(kept, nodes.size() - kept);
  }

  onnx::ModelProto& model_;
  Set pinned_;
  bool has_own_standard_operators_ = false;
  Set staying_;
  std::unordered_map<std::string, Bodies> readers_;
  int64_t moved_bytes_ = 0, copied_bytes_ = 0;
  std::vector<Change> moved_;
};

}  // namespace

std::vector<Change> move_constants_into_bodies(onnx::ModelProto& model) { return Mover(model).run(); }

}  // namespace rlgo::onnx_io

// Operators on constants alone that rlgo does not know: a runtime computes them, once, and they are weights then.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/onnx/importer.h"
#include "core/onnx/names.h"
#include "core/ops/folding.h"

namespace rlgo::onnx_io {
namespace {

constexpr size_t kMostNodes = 256;                 // of one question
constexpr int64_t kMostBytes = int64_t{64} << 20;  // of its operands, and of its results
// A constant is not written in another way, and runtimes look for the pairs of quantisation.
constexpr auto kKeptOps = std::to_array<std::string_view>({"Constant", "DequantizeLinear", "QuantizeLinear"});

onnx::TensorProto tensor_of(const std::string& name, const ops::TensorType& type, std::string bytes) {
  onnx::TensorProto tensor;
  set_tensor(tensor, name, type, std::move(bytes));
  return tensor;
}

}  // namespace

bool Importer::is_known_constant(const std::string& name) const {
  if (waiting(name) != nullptr || constant_makers_.contains(name)) return true;
  const auto found = values_.find(name);
  return found != values_.end() && operands_.contains(found->second.node);
}

// Notes an operator that may be part of a question: the same numbers whenever it runs, and nothing taken from around
// it.
void Importer::note_constant(const onnx::NodeProto& node) {
  if (!options_.evaluate || !is_standard(node) || !is_deterministic(node) || !captured_names(node).empty()) return;
  const auto good = [&](const std::string& name) { return name.empty() || is_known_constant(name); };
  if (!std::ranges::all_of(node.input(), good)) return;
  // Runtimes keep values of 16 bits in single precision from operator to operator, which a weight would round.
  const auto holds_numbers = [&](const std::string& name) {
    const auto dtype = types_.type(name).dtype;
    return dtype != ops::DType::other && dtype != ops::DType::f16 && dtype != ops::DType::bf16;
  };
  if (!std::ranges::all_of(node.output(), holds_numbers)) return;
  for (const auto& name : node.output()) {
    if (!name.empty()) constant_makers_[name] = &node;
  }
}

// Adds what the value is computed from: contents of weights to `graph`, operators to `nodes`, in order. False where
// that is too much.
bool Importer::collect(const std::string& name, std::vector<const onnx::NodeProto*>& nodes,
                       onnx::GraphProto& graph) const {
  const auto same = [&](const onnx::TensorProto& tensor) { return tensor.name() == name; };
  if (name.empty() || std::ranges::any_of(graph.initializer(), same)) return true;
  if (const Computed* computed = waiting(name)) {
    *graph.add_initializer() = tensor_of(name, computed->value->type, to_bytes(*computed->value));
    return true;
  }
  const auto value = values_.find(name);
  const auto operand = value == values_.end() ? operands_.end() : operands_.find(value->second.node);
  if (operand != operands_.end()) {
    const auto bytes = operand->second->share();
    *graph.add_initializer() = tensor_of(name, operand->second->type(), std::string(*bytes));
    return true;
  }
  const auto maker = constant_makers_.find(name);
  if (maker == constant_makers_.end() || nodes.size() > kMostNodes) return false;
  if (std::ranges::find(nodes, maker->second) != nodes.end()) return true;
  for (const auto& input : maker->second->input()) {
    if (!collect(input, nodes, graph)) return false;
  }
  nodes.push_back(maker->second);
  return true;
}

bool Importer::add_evaluated(onnx::NodeProto& node, const OnnxNode& resolved) {
  if (!options_.evaluate || node.output_size() == 0 || std::ranges::find(kKeptOps, node.op_type()) != kKeptOps.end())
    return false;
  const auto maker = constant_makers_.find(node.output(0));
  if (maker == constant_makers_.end() || maker->second != &node || computed_.contains(node.output(0))) return false;
  onnx::ModelProto question;
  std::vector<const onnx::NodeProto*> nodes;
  for (const auto& name : node.input()) {
    if (!collect(name, nodes, *question.mutable_graph())) return false;
  }
  nodes.push_back(&node);
  int64_t expected = 0;
  for (const auto& type : resolved.output_types) expected += type.is_static() ? type.bytes() : 0;
  const auto operand_bytes = static_cast<int64_t>(question.ByteSizeLong());
  if (expected > kMostBytes || operand_bytes > kMostBytes) return false;
  for (const auto* part : nodes) *question.mutable_graph()->add_node() = *part;
  question.mutable_graph()->set_name("constants");
  question.set_ir_version(model_.ir_version());
  *question.mutable_opset_import() = model_.opset_import();
  for (int k = 0; k < node.output_size(); ++k) {
    auto* output = question.mutable_graph()->add_output();
    output->set_name(node.output(k));
    set_type(*output->mutable_type(), ops::TensorType(resolved.output_types[static_cast<size_t>(k)].dtype, {}));
    output->mutable_type()->mutable_tensor_type()->clear_shape();
  }
  const auto answer = options_.evaluate(question.SerializeAsString());
  if (answer.size() != resolved.output_types.size()) return false;
  std::vector<Constant> results;
  for (size_t k = 0; k < answer.size(); ++k) {
    if (!agree(resolved.output_types[k], answer[k].first)) return false;
    results.push_back(constant_from_bytes(answer[k].first, answer[k].second));
  }
  return take_in(node, resolved, std::move(results), false);
}

}  // namespace rlgo::onnx_io

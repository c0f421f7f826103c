#include "core/onnx/decisions.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "core/onnx/names.h"
#include "core/onnx/proto.h"
#include "core/onnx/type_table.h"

namespace rlgo::onnx_io {
namespace {

using Words = std::unordered_set<std::string_view>;

// Of ONNX's own domain, those whose result jumps where an operand passes a value.
const Words& with_steps() {
  static const Words kWords{"Floor",
                            "Ceil",
                            "Round",
                            "Sign",
                            "Mod",
                            "Equal",
                            "Less",
                            "LessOrEqual",
                            "Greater",
                            "GreaterOrEqual",
                            "ArgMax",
                            "ArgMin",
                            "TopK",
                            "NonZero",
                            "Unique",
                            "Hardmax",
                            "Shrink",
                            "ThresholdedRelu",
                            "IsNaN",
                            "IsInf",
                            "Range",
                            "OneHot",
                            "QuantizeLinear",
                            "DynamicQuantizeLinear",
                            "NonMaxSuppression",
                            "MaxRoiPool",
                            "Bernoulli",
                            "Multinomial",
                            "Not",
                            "Compress",
                            "If",
                            "Loop",
                            "Scan",
                            "SequenceMap"};
  return kWords;
}

// Their outputs tell of an operand's shape, not of its values.
const Words& of_shapes() {
  static const Words kWords{"Shape", "Size"};
  return kWords;
}

// With weights of which not all are whole numbers, what they make is like numbers drawn at random.
const Words& mixing() {
  static const Words kWords{"Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum", "LSTM", "GRU", "RNN"};
  return kWords;
}

// They move, choose or compare elements and round nothing; rules among themselves are exact.
const Words& without_rounding() {
  static const Words kWords{"Identity",     "Transpose", "Reshape",
                            "Squeeze",      "Unsqueeze", "Flatten",
                            "Slice",        "Split",     "Concat",
                            "Gather",       "Pad",       "Expand",
                            "Tile",         "Relu",      "Neg",
                            "Abs",          "Max",       "Min",
                            "ReduceMax",    "ReduceMin", "MaxPool",
                            "Where",        "Dropout",   "DepthToSpace",
                            "SpaceToDepth", "Constant",  "ConstantOfShape",
                            "GlobalMaxPool"};
  return kWords;
}

template <typename T>
bool all_whole(const char* bytes, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    T value;
    std::memcpy(&value, bytes + k * sizeof value, sizeof value);
    if (value != std::trunc(value)) return false;
  }
  return true;
}

// Whether the tensor is of f32 or f64 and has numbers that are not whole.
bool has_fractions(const onnx::TensorProto& tensor) {
  const auto& raw = tensor.raw_data();
  if (tensor.data_type() == onnx::TensorProto::FLOAT) {
    return !std::ranges::all_of(tensor.float_data(), [](float v) { return v == std::trunc(v); }) ||
           !all_whole<float>(raw.data(), raw.size() / sizeof(float));
  }
  if (tensor.data_type() == onnx::TensorProto::DOUBLE) {
    return !std::ranges::all_of(tensor.double_data(), [](double v) { return v == std::trunc(v); }) ||
           !all_whole<double>(raw.data(), raw.size() / sizeof(double));
  }
  return tensor.data_type() == onnx::TensorProto::FLOAT16 || tensor.data_type() == onnx::TensorProto::BFLOAT16;
}

const onnx::TensorProto* tensor_of(const onnx::NodeProto& constant) {
  for (const auto& attribute : constant.attribute()) {
    if (attribute.has_t()) return &attribute.t();
  }
  return nullptr;
}

}  // namespace

Decisions::Decisions(const onnx::GraphProto& graph, const TypeTable& types) : types_(types) {
  look_at(graph);
  for (const auto& input : graph.input()) constants_.erase(input.name());  // a caller may give another value
  for (const auto& node : graph.node()) look_at(node);
  find(graph);
}

void Decisions::enter(const onnx::GraphProto& branch, const std::vector<std::string>& outputs) {
  look_at(branch);
  for (const auto& node : branch.node()) look_at(node);
  for (int k = 0; k < branch.output_size(); ++k) {
    if (seen_.contains(outputs[static_cast<size_t>(k)])) hold(branch.output(k).name());
  }
  find(branch);
}

bool Decisions::at(const onnx::NodeProto& node) const {
  return std::ranges::any_of(node.output(), [&](const std::string& name) { return held_.contains(name); });
}

// The weights of external data are not at hand here: they count as drawn at random.
void Decisions::look_at(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer())
    constants_[tensor.name()] = tensor.external_data_size() > 0 || has_fractions(tensor);
  for (const auto& sparse : graph.sparse_initializer()) constants_[sparse.values().name()] = true;
}

void Decisions::find(const onnx::GraphProto& graph) {
  for (const auto& node : graph.node()) {
    for (int k = 0; k < node.input_size(); ++k) {
      if (!has_step(node, k)) continue;
      hold(node.input(k));
      if (is_regular(node.input(k))) held_.insert(node.output().begin(), node.output().end());
    }
    if (node.attribute_size() == 0) continue;
    for (const auto& name : captured_names(node)) hold(name);
  }
  follow();
}

// What makes the values that wait stays, and what makes its operands.
void Decisions::follow() {
  while (!waiting_.empty()) {
    const onnx::NodeProto& node = *waiting_.back();
    waiting_.pop_back();
    for (const auto& name : node.input()) hold(name);
  }
}

void Decisions::hold(const std::string& name) {
  if (name.empty() || is_constant(name) || irregular_.contains(name) || !seen_.insert(name).second) return;
  const auto maker = made_by_.find(name);
  if (maker == made_by_.end() || of_shapes().contains(maker->second->op_type())) return;
  if (is_float(name) && !without_rounding().contains(maker->second->op_type())) held_.insert(name);
  waiting_.push_back(maker->second);
}

// Also where nothing is known of it, as of values inside a branch.
bool Decisions::is_float(const std::string& name) const {
  const auto dtype = types_.type(name).dtype;
  return dtype == ops::DType::other || ops::is_float(dtype);
}

// Whether the result jumps with operand k.
bool Decisions::has_step(const onnx::NodeProto& node, int k) const {
  if (!is_standard_domain(node.domain())) return true;
  if (node.op_type() == "Cast") {
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "to") return !ops::is_float(dtype_of(static_cast<int32_t>(attribute.i())));
    }
  }
  if (node.op_type() == "CastLike") return !is_float(node.output(0));
  if (node.op_type() == "Resize" || node.op_type() == "Upsample") return k > 0;  // sizes
  return with_steps().contains(node.op_type());
}

// Sets constants_ and irregular_ of what the node makes.
void Decisions::look_at(const onnx::NodeProto& node) {
  const bool shape = of_shapes().contains(node.op_type()), random = node.op_type().starts_with("Random");
  const bool standard = is_standard_domain(node.domain());
  bool constant = !shape && !random && standard && captured_names(node).empty();
  bool regular = !random;
  for (const auto& name : node.input()) {
    if (name.empty()) continue;
    constant = constant && is_constant(name);
    regular = regular && (shape || is_constant(name) || !irregular_.contains(name));
  }
  if (mixing().contains(node.op_type()) || !standard)
    regular = regular && std::ranges::none_of(node.input(), [&](const std::string& name) { return mixes(name); });
  bool step = false;
  for (int k = 0; k < node.input_size(); ++k) step = step || has_step(node, k);
  const auto* tensor = node.op_type() == "Constant" ? tensor_of(node) : nullptr;
  for (const auto& name : node.output()) {
    if (name.empty()) continue;
    made_by_[name] = &node;
    if (constant) constants_[name] = tensor != nullptr ? has_fractions(*tensor) : is_float(name);
    if (!regular && (!step || !standard)) irregular_.insert(name);
  }
}

// A number that may lie on a step by more than chance.
bool Decisions::is_regular(const std::string& name) const {
  return !name.empty() && is_float(name) && !is_constant(name) && !irregular_.contains(name);
}

bool Decisions::mixes(const std::string& name) const {
  const auto found = constants_.find(name);
  return found != constants_.end() && found->second;
}

}  // namespace rlgo::onnx_io

#include "core/onnx/quantised_graph.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/onnx/names.h"
#include "core/onnx/proto.h"
#include "core/onnx/validate.h"

namespace rlgo::onnx_io {
namespace {

// Scales between which (q - zero) * scale and its quotient neither overflow nor lose digits.
constexpr double kLeastScale = 0x1p-100, kMostScale = 0x1p100;

bool is_quantised_type(ops::DType type) {
  return type == ops::DType::u8 || type == ops::DType::i8 || type == ops::DType::u16 || type == ops::DType::i16;
}

const onnx::TensorProto* tensor_of(const onnx::NodeProto& node) {
  if (!is_standard_op(node, "Constant") || node.attribute_size() != 1) return nullptr;
  return node.attribute(0).name() == "value" && node.attribute(0).has_t() ? &node.attribute(0).t() : nullptr;
}

}  // namespace

bool is_standard_op(const onnx::NodeProto& node, std::string_view op) {
  return node.op_type() == op && is_standard_domain(node.domain());
}

const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name) {
  const auto found = std::ranges::find(node.attribute(), name, &onnx::AttributeProto::name);
  return found == node.attribute().end() ? nullptr : &*found;
}

const std::string& input_of(const onnx::NodeProto& node, int k) {
  static const std::string none;
  return k < node.input_size() ? node.input(k) : none;
}

int64_t Quantisation::least() const {
  if (type == ops::DType::i8) return -128;
  return type == ops::DType::i16 ? -32768 : 0;
}

int64_t Quantisation::most() const {
  const bool wide = type == ops::DType::u16 || type == ops::DType::i16;
  return least() + (wide ? 65535 : 255);
}

int64_t Quantisation::quantised(float x, size_t k) const {
  const float steps = std::nearbyint(x / static_cast<float>(scales[k]));
  const auto low = static_cast<double>(least() - zeros[k]), high = static_cast<double>(most() - zeros[k]);
  return zeros[k] + static_cast<int64_t>(std::clamp(static_cast<double>(steps), low, high));
}

QuantisedGraph::QuantisedGraph(onnx::ModelProto& model, const onnx::GraphProto& constants)
    : graph_(*model.mutable_graph()), source_(constants), opset_(standard_opset(model)) {
  collect_names(source_, names_);
  collect_names(graph_, names_);
  for (const auto& input : graph_.input()) inputs_.insert(input.name());
  for (const auto& tensor : source_.initializer()) {
    if (!inputs_.contains(tensor.name())) constants_[tensor.name()] = &tensor;
  }
  for (const auto& output : graph_.output()) pinned_.insert(output.name());
  settle();
}

std::vector<onnx::NodeProto*> QuantisedGraph::nodes() {
  std::vector<onnx::NodeProto*> live;
  for (auto& node : *graph_.mutable_node()) {
    if (!node.op_type().empty()) live.push_back(&node);
  }
  return live;
}

onnx::NodeProto* QuantisedGraph::maker(const std::string& value) const {
  const auto found = makers_.find(value);
  return found == makers_.end() ? nullptr : found->second;
}

const std::vector<QuantisedGraph::Reader>& QuantisedGraph::readers(const std::string& value) const {
  static const std::vector<Reader> none;
  const auto found = readers_.find(value);
  return found == readers_.end() ? none : found->second;
}

const onnx::TensorProto* QuantisedGraph::constant(const std::string& value) const {
  if (const auto found = constants_.find(value); found != constants_.end()) return found->second;
  const onnx::NodeProto* node = maker(value);
  return node == nullptr ? nullptr : tensor_of(*node);
}

std::optional<Constant> QuantisedGraph::numbers(const std::string& value) const {
  const auto* tensor = constant(value);
  if (tensor == nullptr) return std::nullopt;
  const auto type = tensor_type_of(*tensor);
  if (type.dtype == ops::DType::other) return std::nullopt;
  return constant_from_bytes(type, copy_bytes(*tensor));
}

std::optional<Quantisation> QuantisedGraph::quantisation(const onnx::NodeProto& node) const {
  const bool forward = is_standard_op(node, "QuantizeLinear");
  if (!forward && !is_standard_op(node, "DequantizeLinear")) return std::nullopt;
  Quantisation found;
  found.type = forward ? ops::DType::u8 : ops::DType::other;
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "axis") {
      found.axis = attribute.i();
    } else if (attribute.name() == "output_dtype" && forward && attribute.i() != 0) {
      found.type = dtype_of(static_cast<int32_t>(attribute.i()));
    } else if (attribute.name() != "saturate" && attribute.i() != 0) {
      return std::nullopt;  // blocks, other precisions
    }
  }
  if (attribute_of(node, "axis") == nullptr) found.axis = 1;
  const auto scale = numbers(input_of(node, 1));
  if (!scale || scale->type.dtype != ops::DType::f32 || scale->type.rank() > 1) return std::nullopt;
  const auto normal = [](double s) { return s >= kLeastScale && s <= kMostScale; };
  if (scale->floats.empty() || !std::ranges::all_of(scale->floats, normal)) return std::nullopt;
  found.scales = scale->floats;
  found.zeros.assign(found.scales.size(), 0);
  if (const std::string& name = input_of(node, 2); !name.empty()) {
    auto zero = numbers(name);
    if (!zero || zero->ints.size() != found.scales.size()) return std::nullopt;
    found.zeros = std::move(zero->ints);
    found.type = zero->type.dtype;
  } else if (const auto* before = forward ? nullptr : maker(input_of(node, 0))) {
    if (const auto same = quantisation(*before)) found.type = same->type;
  } else if (const auto* tensor = constant(input_of(node, 0))) {
    found.type = tensor_type_of(*tensor).dtype;
  }
  if (found.per_tensor()) found.axis = 0;
  return is_quantised_type(found.type) ? std::optional(found) : std::nullopt;
}

std::string QuantisedGraph::fresh(const std::string& like) {
  for (int k = 1;; ++k) {
    std::string name = fmt::format("{}_q{}", like, k);
    if (names_.insert(name).second) return name;
  }
}

std::string QuantisedGraph::add(const std::string& like, ops::DType type, const std::vector<int64_t>& dims,
                                std::string bytes) {
  const std::string name = fresh(like);
  ops::TensorType made(type, {});
  for (const int64_t extent : dims) made.shape.push_back(extent);
  auto& tensor = *graph_.add_initializer();
  set_tensor(tensor, name, made, std::move(bytes));
  constants_[name] = &tensor;
  return name;
}

std::string QuantisedGraph::add_scalar(const std::string& like, ops::DType type, int64_t value) {
  const Constant one{ops::TensorType(type, {}), {value}, {}};
  return add(like, type, {}, to_bytes(one));
}

onnx::NodeProto* QuantisedGraph::add_copy(const onnx::NodeProto& like, const std::string& output) {
  const onnx::NodeProto copy = like;
  auto* node = graph_.add_node();
  *node = copy;
  node->clear_name();
  node->clear_output();
  node->add_output(output);
  return node;
}

void QuantisedGraph::redirect(const std::string& from, const std::string& to) {
  for (const auto& [node, input] : readers(from)) node->set_input(input, to);
}

void QuantisedGraph::settle() {
  for (bool again = true; std::exchange(again, false);) {
    makers_.clear();
    readers_.clear();
    for (auto* node : nodes()) {
      for (const auto& output : node->output()) makers_[output] = node;
      for (int k = 0; k < node->input_size(); ++k) readers_[node->input(k)].push_back({node, k});
      for (auto& name : captured_names(*node)) pinned_.insert(std::move(name));
    }
    for (auto* node : nodes()) {
      const auto is_read = [&](const std::string& name) { return !readers(name).empty() || !is_inner(name); };
      if (std::ranges::any_of(node->output(), is_read)) continue;
      node->Clear();
      again = true;
    }
  }
}

void QuantisedGraph::finish() {
  auto& nodes = *graph_.mutable_node();
  int kept = 0;
  for (int k = 0; k < nodes.size(); ++k) {
    if (!nodes[k].op_type().empty()) nodes.SwapElements(kept++, k);
  }
  nodes.DeleteSubrange(kept, nodes.size() - kept);
  if (changes.empty()) return;
  auto& infos = *graph_.mutable_value_info();
  kept = 0;
  for (int k = 0; k < infos.size(); ++k) {
    if (!retyped_.contains(infos[k].name())) infos.SwapElements(kept++, k);
  }
  infos.DeleteSubrange(kept, infos.size() - kept);
}

void QuantisedGraph::note(const onnx::NodeProto& node, std::string_view rewrite) {
  const std::string name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
  changes.push_back({Change::Kind::respelled, full_op(node), name, std::string(rewrite)});
}

}  // namespace rlgo::onnx_io

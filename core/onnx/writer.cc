#include "core/onnx/writer.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/external_data.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {
namespace {

constexpr int kConstantsOfAllTypes = 9;  // the opset whose Constant makes integers and booleans, too
constexpr int64_t kExactInDouble = int64_t{1} << 53;

void set_attribute(onnx::AttributeProto& attribute, const OnnxAttr& value) {
  struct Setter {
    onnx::AttributeProto& to;
    void operator()(std::monostate) const {}
    void operator()(int64_t number) const { to.set_type(onnx::AttributeProto::INT), to.set_i(number); }
    void operator()(float number) const { to.set_type(onnx::AttributeProto::FLOAT), to.set_f(number); }
    void operator()(const std::string& text) const { to.set_type(onnx::AttributeProto::STRING), to.set_s(text); }
    void operator()(const Ints& numbers) const {
      to.set_type(onnx::AttributeProto::INTS);
      to.mutable_ints()->Assign(numbers.begin(), numbers.end());
    }
    void operator()(const Floats& numbers) const {
      to.set_type(onnx::AttributeProto::FLOATS);
      to.mutable_floats()->Assign(numbers.begin(), numbers.end());
    }
    void operator()(const Words& words) const {
      to.set_type(onnx::AttributeProto::STRINGS);
      to.mutable_strings()->Assign(words.begin(), words.end());
    }
    void operator()(const Constant& tensor) const {
      to.set_type(onnx::AttributeProto::TENSOR);
      set_tensor(*to.mutable_t(), "", tensor.type, to_bytes(tensor));
    }
  };
  std::visit(Setter{attribute}, value);
}

}  // namespace

Writer::Writer(onnx::ModelProto& model, int opset) : model_(model), opset_(opset) {
  for (const auto& input : model.graph().input()) declared_inputs_.insert(input.name());
}

std::string Writer::fresh(std::string_view hint) {
  std::string name(hint);
  while (!claim(name)) name = fmt::format("{}_{}", hint, next_++);
  return name;
}

void Writer::begin(std::string node_name, std::string header) {
  node_name_ = std::move(node_name);
  header_ = std::move(header);
}

std::string Writer::unique_node_name(std::string name) {
  std::string unique = name;
  for (int k = 1; !node_names_.insert(unique).second; ++k) unique = fmt::format("{}_{}", name, k);
  return unique;
}

void Writer::node(std::string_view op, const Names& inputs, const Names& outputs, const OnnxAttrs& attrs) {
  onnx::NodeProto node;
  if (!header_.empty()) node.ParseFromString(header_);
  node.set_op_type(std::string(op));
  node.set_name(unique_node_name(node_name_.empty() ? outputs[0] : node_name_));
  for (const auto& name : inputs) node.add_input(name);
  for (const auto& name : outputs) node.add_output(name);
  for (const auto& [key, value] : attrs) {
    auto* attribute = node.add_attribute();
    attribute->set_name(std::string(key));
    set_attribute(*attribute, value);
  }
  *model_.mutable_graph()->add_node() = std::move(node);
}

std::string Writer::temp(std::string_view op, const Names& inputs, const OnnxAttrs& attrs) {
  std::string output = fresh(node_name_.empty() ? std::string(op) : fmt::format("{}/{}", node_name_, op));
  std::string name = std::exchange(node_name_, output), header = std::exchange(header_, {});
  node(op, inputs, {output}, attrs);
  node_name_ = std::move(name);
  header_ = std::move(header);
  return output;
}

void Writer::raw_node(onnx::NodeProto node) {
  if (!node.name().empty()) node.set_name(unique_node_name(node.name()));
  *model_.mutable_graph()->add_node() = std::move(node);
}

bool Writer::takes_initialiser(const std::string& name) const {
  return model_.ir_version() >= 4 || declared_inputs_.contains(name);
}

void Writer::constant(const std::string& name, const ops::TensorType& type, std::string bytes,
                      const std::string& notes) {
  if (takes_initialiser(name)) {
    auto& tensor = *model_.mutable_graph()->add_initializer();
    set_tensor(tensor, name, type, std::move(bytes));
    add_notes(tensor, notes);
    return;
  }
  if (opset_ >= kConstantsOfAllTypes || ops::is_float(type.dtype)) {
    constant_node(name, type, std::move(bytes), notes);
    return;
  }
  Constant numbers = constant_from_bytes(type, bytes);
  const auto is_exact = [](int64_t n) { return -kExactInDouble <= n && n <= kExactInDouble; };
  if (!std::ranges::all_of(numbers.ints, is_exact))
    fail("opset {} has no constant {} of such large integers", opset_, name);
  numbers.type.dtype = ops::DType::f64;
  numbers.floats.assign(numbers.ints.begin(), numbers.ints.end());
  numbers.ints.clear();
  const std::string as_floats = fresh(name + "/numbers");
  constant_node(as_floats, numbers.type, to_bytes(numbers), notes);
  auto* node = model_.mutable_graph()->add_node();
  node->set_op_type("Cast");
  node->set_name(unique_node_name(name));
  node->add_input(as_floats);
  node->add_output(name);
  auto* attribute = node->add_attribute();
  attribute->set_name("to");
  set_attribute(*attribute, static_cast<int64_t>(type.dtype));
}

void Writer::constant_in_file(const std::string& name, const ops::TensorType& type, const std::string& file,
                              const std::string& notes) {
  auto& tensor = *model_.mutable_graph()->add_initializer();
  set_tensor(tensor, name, type, {});
  tensor.clear_raw_data();
  add_notes(tensor, notes);
  set_external(tensor, file, 0, static_cast<size_t>(type.bytes()));
}

void Writer::constant_node(const std::string& name, const ops::TensorType& type, std::string bytes,
                           const std::string& notes) {
  auto* node = model_.mutable_graph()->add_node();
  node->set_op_type("Constant");
  node->add_output(name);
  auto* attribute = node->add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  set_tensor(*attribute->mutable_t(), name, type, std::move(bytes));
  add_notes(*attribute->mutable_t(), notes);
}

std::string Writer::shared_constant(const ops::TensorType& type, std::string bytes) {
  const auto [place, is_new] = shared_.try_emplace(ops::to_string(type) + bytes);
  if (is_new) {
    place->second = fresh("const");
    constant(place->second, type, std::move(bytes));
  }
  return place->second;
}

std::string Writer::ints(const Ints& values) {
  Constant constant{{ops::DType::i64, {static_cast<int64_t>(values.size())}}, values, {}};
  return shared_constant(constant.type, to_bytes(constant));
}

std::string Writer::floats(const std::vector<double>& values) {
  Constant constant{{ops::DType::f32, {static_cast<int64_t>(values.size())}}, {}, values};
  return shared_constant(constant.type, to_bytes(constant));
}

std::string Writer::scalar(double value, ops::DType dtype) {
  return shared_constant({dtype, {}}, element_bytes(dtype, value));
}

}  // namespace rlgo::onnx_io

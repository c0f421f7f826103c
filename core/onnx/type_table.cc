#include "core/onnx/type_table.h"

#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/onnx/safe_schemas.h"
#include "core/onnx/validate.h"

namespace rlgo::onnx_io {

namespace {

// Takes over the sizes and names of dimensions that `inferred` has.
void merge_dims(onnx::TypeProto& known, const onnx::TypeProto& inferred) {
  if (!known.has_tensor_type() || !inferred.has_tensor_type() || !inferred.tensor_type().has_shape()) return;
  auto& type = *known.mutable_tensor_type();
  const auto& from = inferred.tensor_type().shape();
  if (!type.has_shape() || type.shape().dim_size() != from.dim_size()) {
    *type.mutable_shape() = from;
    return;
  }
  for (int d = 0; d < from.dim_size(); ++d) {
    if (from.dim(d).has_dim_value() || from.dim(d).has_dim_param()) *type.mutable_shape()->mutable_dim(d) = from.dim(d);
  }
}

constexpr size_t kMostBodyBytes = size_t{64} << 20;  // of an operator that is copied with its bodies

}  // namespace

struct TypeTable::Map {
  std::unordered_map<std::string, onnx::TypeProto> types;
  std::unordered_map<std::string, int> opsets;  // versions by domain

  bool knows(const std::string& name) const {
    const auto found = types.find(name);
    return found != types.end() && found->second.value_case() != onnx::TypeProto::VALUE_NOT_SET;
  }
};

TypeTable::TypeTable(onnx::ModelProto& model) : map_(std::make_unique<Map>()) {
  for (const auto& import : model.opset_import()) map_->opsets[import.domain()] = static_cast<int>(import.version());
  Inference inference(model);
  contradiction_ = inference.run_strictly(true);
  if (!contradiction_.empty()) {
    inference.forget_shapes();
    if (inference.run_strictly(true).empty()) {
      misdeclared_ = std::exchange(contradiction_, "");
    } else {
      inference.run_leniently();
    }
  }
  const auto& graph = model.graph();
  std::unordered_set<std::string> inputs;  // that callers may override: initialisers of these names are defaults
  for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const auto& value : *list) map_->types[value.name()] = value.type();
  }
  if (model.ir_version() >= 4) {
    for (const auto& input : graph.input()) inputs.insert(input.name());
  }
  for (const auto& tensor : graph.initializer()) {
    if (inputs.contains(tensor.name())) continue;
    auto* type = map_->types[tensor.name()].mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    type->clear_shape();
    type->mutable_shape();
    for (int64_t extent : tensor.dims()) type->mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

TypeTable::TypeTable(TypeTable&&) noexcept = default;
TypeTable::~TypeTable() = default;

ops::TensorType TypeTable::type(const std::string& name) const {
  const auto found = map_->types.find(name);
  return found == map_->types.end() ? ops::TensorType::unranked(ops::DType::other) : type_of(found->second);
}

void TypeTable::set(const std::string& name, const ops::TensorType& type) { set_type(map_->types[name], type); }

void TypeTable::alias(const std::string& name, const std::string& other) {
  if (!map_->knows(other)) return;
  const onnx::TypeProto type = map_->types[other];
  map_->types[name] = type;
}

std::optional<std::vector<TypeTable::Dim>> TypeTable::dims(const std::string& name) const {
  const auto found = map_->types.find(name);
  if (found == map_->types.end() || !found->second.has_tensor_type() || !found->second.tensor_type().has_shape())
    return std::nullopt;
  std::vector<Dim> dims;
  for (const auto& dim : found->second.tensor_type().shape().dim())
    dims.push_back({dim.has_dim_value() ? dim.dim_value() : ops::kUnknown, dim.dim_param()});
  return dims;
}

void TypeTable::set_dims(const std::string& name, ops::DType dtype, const std::vector<Dim>& dims) {
  auto* tensor = map_->types[name].mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(dtype));
  tensor->mutable_shape()->clear_dim();
  for (const Dim& dim : dims) {
    auto* added = tensor->mutable_shape()->add_dim();
    if (dim.value != ops::kUnknown) {
      added->set_dim_value(dim.value);
    } else if (!dim.name.empty()) {
      added->set_dim_param(dim.name);
    }
  }
}

void TypeTable::refine(const onnx::NodeProto& node, int version, const std::function<const Constant*(int k)>& constant,
                       bool by_dims) {
  const auto* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), version, node.domain());
  if (!schema || !schema->has_type_and_shape_inference_function()) return;
  onnx::NodeProto copy = node;
  std::unordered_map<std::string, onnx::TypeProto*> types;
  std::unordered_map<std::string, onnx::TensorProto> tensors;
  std::unordered_map<std::string, const onnx::TensorProto*> data;
  for (int k = 0; k < node.input_size(); ++k) {
    const auto& name = node.input(k);
    if (const auto found = map_->types.find(name); found != map_->types.end()) types[name] = &found->second;
    if (const Constant* value = constant(k)) {
      if (const auto [place, is_new] = tensors.try_emplace(name); is_new)
        set_tensor(place->second, name, value->type, to_bytes(*value));
      data[name] = &tensors[name];
    }
  }
  const bool into_bodies =
      std::ranges::any_of(node.attribute(), &onnx::AttributeProto::has_g) && node.ByteSizeLong() <= kMostBodyBytes;
  std::unordered_map<std::string, onnx::TypeProto*> around;
  if (into_bodies) {
    forget_shapes_in_bodies(copy);
    for (auto& [name, type] : map_->types) around.emplace(name, &type);
  }
  try {
    const onnx::ShapeInferenceOptions options(false, 0, false);
    onnx::shape_inference::GraphInferenceContext outer(around, map_->opsets);
    onnx::shape_inference::InferenceContextImpl context(copy, types, data, {}, options, nullptr,
                                                        into_bodies ? &outer : nullptr);
    infer(*schema, context);
    for (int k = 0; k < node.output_size(); ++k) {
      const auto* inferred = context.getOutputType(static_cast<size_t>(k));
      if (node.output(k).empty() || inferred->value_case() == onnx::TypeProto::VALUE_NOT_SET) continue;
      auto& known = map_->types[node.output(k)];
      if (known.value_case() == onnx::TypeProto::VALUE_NOT_SET || type_of(*inferred).is_static()) {
        known = *inferred;
      } else if (by_dims) {
        merge_dims(known, *inferred);
      }
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    // Then the types stay as they are.
  }
}

}  // namespace rlgo::onnx_io

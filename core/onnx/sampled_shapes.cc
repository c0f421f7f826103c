#include "core/onnx/sampled_shapes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/onnx/dims.h"

namespace rlgo::onnx_io {
namespace {

TypeTable types_at(onnx::ModelProto& model, const Sizes& sizes) {
  const ForgottenShapes forgotten(model);
  bind_dims(model, sizes);
  return TypeTable(model);
}

// Of large constants in all; of one that is small.
constexpr int64_t kMostElements = int64_t{1} << 22, kFewElements = 1024;

// Images are multiples of 32 and not square; sequences are short; batches are small.
int64_t first_size(int rank, int axis, int64_t count) {
  if (axis == 0) return 2 + count;
  if (rank == 4 && axis >= 2) return 320 + 64 * (axis - 2) + 32 * count;
  return 48 + 8 * count;
}
}  // namespace

struct ForgottenShapes::Saved {
  onnx::GraphProto& graph;
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> input, output, values;
  std::vector<std::pair<int, onnx::NodeProto>> nodes;  // those with bodies, by place
};

ForgottenShapes::ForgottenShapes(onnx::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  saved_ = std::unique_ptr<Saved>(new Saved{graph, graph.input(), graph.output(), graph.value_info(), {}});
  forget_shapes(graph, false);
  for (int n = 0; n < graph.node_size(); ++n) {
    auto& node = *graph.mutable_node(n);
    if (std::ranges::none_of(node.attribute(), &onnx::AttributeProto::has_g)) continue;
    saved_->nodes.emplace_back(n, node);
    forget_shapes_in_bodies(node);
  }
}

ForgottenShapes::~ForgottenShapes() {
  saved_->graph.mutable_input()->Swap(&saved_->input);
  saved_->graph.mutable_output()->Swap(&saved_->output);
  saved_->graph.mutable_value_info()->Swap(&saved_->values);
  for (auto& [n, node] : saved_->nodes) saved_->graph.mutable_node(n)->Swap(&node);
}

Sizes sample_sizes(const onnx::ModelProto& model, const Sizes& wanted, bool by_axis) {
  Sizes sizes;
  std::map<int, int64_t> taken;  // dimensions with a size of their own, by kind of axis
  for (const auto& input : model.graph().input()) {
    if (!input.type().has_tensor_type()) continue;
    if (!input.type().tensor_type().has_shape()) return {};
    const auto& shape = input.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (shape.dim(axis).has_dim_value()) continue;
      const std::string name = dim_name(input, axis);
      if (sizes.contains(name)) continue;
      const int kind = axis == 0 ? 0 : (shape.dim_size() == 4 && axis >= 2 ? 2 : 1);
      const int64_t count = is_named_dim(input, axis) && !by_axis ? taken[kind]++ : 0;
      const auto given = wanted.find(name);
      sizes[name] = given != wanted.end() ? given->second : first_size(shape.dim_size(), axis, count);
    }
  }
  return sizes;
}

SampledShapes::SampledShapes(onnx::ModelProto& model, const Sizes& sizes) : types_(types_at(model, sizes)) {}

void SampledShapes::alias(const std::string& name, const std::string& other) {
  types_.alias(name, other);
  if (const auto found = constants_.find(other); found != constants_.end()) {
    Constant same = found->second;
    constants_[name] = std::move(same);
  }
}

void SampledShapes::step(const onnx::NodeProto& node, int version, bool is_standard, OnnxNode& resolved) {
  const auto constant = [&](int k) -> const Constant* {
    if (resolved.constants[static_cast<size_t>(k)]) return resolved.constants[static_cast<size_t>(k)];
    const auto found = constants_.find(node.input(k));
    return found == constants_.end() ? nullptr : &found->second;
  };
  const auto is_open = [&](const std::string& name) { return !name.empty() && !type(name).is_static(); };
  if (version > 0 && std::ranges::any_of(node.output(), is_open)) types_.refine(node, version, constant);
  for (int k = 0; k < node.input_size(); ++k) {
    const auto index = static_cast<size_t>(k);
    resolved.input_types[index] =
        node.input(k).empty() ? ops::TensorType::unranked(ops::DType::other) : type(node.input(k));
    resolved.constants[index] = constant(k);
  }
  for (int k = 0; k < node.output_size(); ++k) resolved.output_types[static_cast<size_t>(k)] = type(node.output(k));
  if (!is_standard || node.output_size() != 1) return;
  if (node.op_type() == "Identity" && resolved.constants[0]) {
    const Constant same = *resolved.constants[0];
    constants_[node.output(0)] = same;
    return;
  }
  if (auto value = evaluate(resolved)) {
    const int64_t elements = value->type.elements();
    if (elements > kFewElements && (elements_ += elements) > kMostElements) return;
    types_.set(node.output(0), value->type);
    constants_[node.output(0)] = std::move(*value);
  }
}

}  // namespace rlgo::onnx_io

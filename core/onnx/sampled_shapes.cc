#include "core/onnx/sampled_shapes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/onnx/dims.h"

namespace rlgo::onnx_io {
namespace {

// Binds the model's dimensions while it lives.
class Bound {
 public:
  Bound(onnx::ModelProto& model, const Sizes& sizes) : graph_(*model.mutable_graph()) {
    input_ = graph_.input();
    output_ = graph_.output();
    values_ = graph_.value_info();
    bind_dims(model, sizes);
    // What the file says about its outputs is for other sizes.
    for (auto& output : *graph_.mutable_output()) {
      if (!output.type().has_tensor_type() || !output.type().tensor_type().has_shape()) continue;
      for (auto& dim : *output.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        if (!dim.has_dim_value()) dim.clear_dim_param();
      }
    }
  }
  ~Bound() {
    graph_.mutable_input()->Swap(&input_);
    graph_.mutable_output()->Swap(&output_);
    graph_.mutable_value_info()->Swap(&values_);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  onnx::GraphProto& graph_;
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> input_, output_, values_;
};

TypeTable types_at(onnx::ModelProto& model, const Sizes& sizes) {
  const Bound bound(model, sizes);
  return TypeTable(model);
}

// Images are multiples of 32 and not square; sequences are short; batches are small.
int64_t first_size(int rank, int axis, int64_t count) {
  if (axis == 0) return 2 + count;
  if (rank == 4 && axis >= 2) return 320 + 64 * (axis - 2) + 32 * count;
  return 48 + 8 * count;
}
int64_t second_size(int rank, int axis, int64_t first) {
  if (axis == 0) return first + 3;
  return first + (rank == 4 && axis >= 2 ? 160 : 24);
}

}  // namespace

SampleSizes sample_sizes(const onnx::ModelProto& model, const Sizes& wanted, bool by_axis) {
  SampleSizes sizes;
  std::map<int, int64_t> taken;  // dimensions with a size of their own, by kind of axis
  for (const auto& input : model.graph().input()) {
    if (!input.type().has_tensor_type()) continue;
    if (!input.type().tensor_type().has_shape()) return {};
    const auto& shape = input.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      const auto& dim = shape.dim(axis);
      if (dim.has_dim_value()) continue;
      const bool is_named = dim.has_dim_param() && !dim.dim_param().empty() && dim.dim_param() != "?";
      const std::string name = is_named ? dim.dim_param() : input.name() + ":" + std::to_string(axis);
      if (sizes.first.contains(name)) continue;
      const int kind = axis == 0 ? 0 : (shape.dim_size() == 4 && axis >= 2 ? 2 : 1);
      const int64_t count = is_named && !by_axis ? taken[kind]++ : 0;
      const auto given = wanted.find(name);
      const int64_t first = given != wanted.end() ? given->second : first_size(shape.dim_size(), axis, count);
      sizes.first[name] = first;
      sizes.second[name] = second_size(shape.dim_size(), axis, first);
    }
  }
  return sizes;
}

Shadow::Shadow(onnx::ModelProto& model, const Sizes& sizes) : types_(types_at(model, sizes)) {}

void Shadow::step(const onnx::NodeProto& node, int version, bool is_standard, Call& call) {
  const auto constant = [&](int k) -> const Constant* {
    if (call.constants[static_cast<size_t>(k)]) return call.constants[static_cast<size_t>(k)];
    const auto found = constants_.find(node.input(k));
    return found == constants_.end() ? nullptr : &found->second;
  };
  const auto is_open = [&](const std::string& name) { return !name.empty() && !type(name).is_static(); };
  if (version > 0 && std::ranges::any_of(node.output(), is_open)) types_.refine(node, version, constant);
  for (int k = 0; k < node.input_size(); ++k) {
    const auto index = static_cast<size_t>(k);
    call.input_types[index] =
        node.input(k).empty() ? ops::TensorType::unranked(ops::DType::other) : type(node.input(k));
    call.constants[index] = constant(k);
  }
  for (int k = 0; k < node.output_size(); ++k) call.output_types[static_cast<size_t>(k)] = type(node.output(k));
  if (!is_standard || node.output_size() != 1) return;
  if (node.op_type() == "Identity" && call.constants[0]) {
    const Constant same = *call.constants[0];
    constants_[node.output(0)] = same;
    return;
  }
  if (auto value = evaluate(call)) {
    types_.set(node.output(0), value->type);
    constants_[node.output(0)] = std::move(*value);
  }
}

std::optional<Ints> open_reshape(const ops::Shape& in_a, const ops::Shape& out_a, const ops::Shape& in_b,
                                 const ops::Shape& out_b) {
  if (out_a.size() != out_b.size()) return std::nullopt;
  Ints shape;
  bool has_rest = false, has_zero = false, has_same = false;
  for (size_t d = 0; d < out_a.size(); ++d) {
    const bool is_copy = d < in_a.size() && in_a[d] == out_a[d] && in_b[d] == out_b[d];
    if (out_a[d] == out_b[d]) {
      shape.push_back(out_a[d]);
      has_zero = has_zero || out_a[d] == 0;
    } else if (is_copy) {
      shape.push_back(ops::kSameExtent);
      has_same = true;
    } else if (!has_rest) {
      shape.push_back(ops::kRestExtent);
      has_rest = true;
    } else {
      return std::nullopt;
    }
  }
  if (has_zero && (has_same || has_rest)) return std::nullopt;
  return shape;
}

}  // namespace rlgo::onnx_io

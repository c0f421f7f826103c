// Shape arithmetic on small constants: what exporters write around Reshape, Expand, Slice and the like.
#include <algorithm>
#include <cmath>

#include "core/onnx/evaluate.h"
#include "core/onnx/onnx_node.h"

namespace rlgo::onnx_io {
namespace {

using ops::DType;
using ops::Shape;
using Result = std::optional<Constant>;

Constant ints_1d(Ints values) {
  const auto count = static_cast<int64_t>(values.size());
  return {{DType::i64, {count}}, std::move(values), {}};
}

Result same_elements(const Constant& from, const ops::TensorType& type) {
  if (!type.is_static() || type.elements() != from.type.elements()) return std::nullopt;
  Constant result = from;
  result.type.shape = type.shape;
  return result;
}

void copy_element(const Constant& from, size_t index, Constant& to) {
  if (from.is_float()) {
    to.floats.push_back(from.floats[index]);
  } else {
    to.ints.push_back(from.ints[index]);
  }
}

Result shape_of(const OnnxNode& node) {
  const auto& type = node.input_types[0];
  if (!type.is_static()) return std::nullopt;
  if (node.op == "Size") return Constant{{DType::i64, {}}, {type.elements()}, {}};
  const int64_t rank = type.rank();
  const auto clamp = [rank](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  const int64_t start = clamp(node.i("start", 0)), end = std::max(start, clamp(node.i("end", rank)));
  return ints_1d(Ints(type.shape.begin() + start, type.shape.begin() + end));
}

Result view(const OnnxNode& node) { return same_elements(*node.constants[0], node.output_types[0]); }

Result expand(const OnnxNode& node) {
  const auto shape =
      ops::broadcast(node.input_types[0].shape, Shape(std::span<const int64_t>(node.constants[1]->ints)));
  if (!shape || !ops::TensorType(DType::i64, *shape).is_static()) return std::nullopt;
  auto result = empty_like(node.input_types[0].dtype, *shape);
  if (!result) return std::nullopt;
  for_each_place(*shape, [&](int64_t, const auto& place) {
    copy_element(*node.constants[0], broadcast_index(node.input_types[0].shape, place), *result);
  });
  return result;
}

Result gather(const OnnxNode& node) {
  const auto& from = *node.constants[0];
  const auto& indices = *node.constants[1];
  const auto axis = normal_axis(node.i("axis", 0), from.type.rank());
  if (!axis || indices.is_float()) return std::nullopt;
  Shape shape;
  int64_t before = 1, after = 1;
  for (int64_t d = 0; d < from.type.rank(); ++d) {
    if (d < *axis) before *= from.type.shape[d];
    if (d > *axis) after *= from.type.shape[d];
    if (d != *axis) shape.push_back(from.type.shape[d]);
    if (d == *axis)
      for (int64_t extent : indices.type.shape) shape.push_back(extent);
  }
  auto result = empty_like(from.type.dtype, shape);
  const int64_t extent = from.type.shape[*axis];
  if (!result) return std::nullopt;
  for (int64_t b = 0; b < before; ++b) {
    for (int64_t index : indices.ints) {
      const auto place = normal_axis(index, static_cast<int>(extent));
      if (!place) return std::nullopt;
      for (int64_t a = 0; a < after; ++a)
        copy_element(from, static_cast<size_t>((b * extent + *place) * after + a), *result);
    }
  }
  return result;
}

Result concat(const OnnxNode& node) {
  const auto& first = node.constants[0]->type;
  const auto axis = normal_axis(node.i("axis", 0), first.rank());
  if (!axis) return std::nullopt;
  Shape shape = first.shape;
  shape[*axis] = 0;
  for (const Constant* part : node.constants) {
    if (part->type.dtype != first.dtype || part->type.rank() != first.rank()) return std::nullopt;
    shape[*axis] += part->type.shape[*axis];
  }
  auto result = empty_like(first.dtype, shape);
  int64_t rows = 1;
  for (int64_t d = 0; d < *axis; ++d) rows *= shape[d];
  for (int64_t row = 0; result && row < rows; ++row) {
    for (const Constant* part : node.constants) {
      const auto each = static_cast<int64_t>(part->size()) / rows;
      for (int64_t k = row * each; k < (row + 1) * each; ++k) copy_element(*part, static_cast<size_t>(k), *result);
    }
  }
  return result;
}

Result tile(const OnnxNode& node) {
  const auto& from = *node.constants[0];
  const Ints& repeats = node.constants[1]->ints;
  Shape shape = from.type.shape;
  if (repeats.size() != shape.size()) return std::nullopt;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (repeats[d] < 0 || __builtin_mul_overflow(shape[d], repeats[d], &shape[d])) return std::nullopt;
  }
  auto result = empty_like(from.type.dtype, shape);
  if (!result) return std::nullopt;
  for_each_place(shape, [&](int64_t, const auto& place) {
    size_t index = 0;
    for (size_t d = 0; d < place.size(); ++d) {
      const int64_t extent = from.type.shape[d];
      index = index * static_cast<size_t>(extent) + static_cast<size_t>(place[d] % extent);
    }
    copy_element(from, index, *result);
  });
  return result;
}

Result constant_of_shape(const OnnxNode& node) {
  const auto& type = node.output_types[0];
  if (!type.is_static() || !is_small(type) || node.constants[0]->is_float()) return std::nullopt;
  if (to_ints(type.shape) != node.constants[0]->ints) return std::nullopt;
  const Constant* value = node.tensor("value");
  if (node.has("value") && (!value || value->size() != 1 || value->type.dtype != type.dtype)) return std::nullopt;
  Constant result{type, {}, {}};
  const auto count = static_cast<size_t>(type.elements());
  if (result.is_float()) result.floats.assign(count, value ? value->floats[0] : 0.0);
  if (!result.is_float()) result.ints.assign(count, value ? value->ints[0] : 0);
  return result;
}

Result where(const OnnxNode& node) {
  const auto &test = *node.constants[0], &yes = *node.constants[1], &no = *node.constants[2];
  const auto inner = ops::broadcast(yes.type.shape, no.type.shape);
  const auto shape = inner ? ops::broadcast(test.type.shape, *inner) : std::nullopt;
  if (!shape || yes.type.dtype != no.type.dtype || test.is_float()) return std::nullopt;
  auto result = empty_like(yes.type.dtype, *shape);
  if (!result) return std::nullopt;
  for_each_place(*shape, [&](int64_t, const auto& place) {
    const auto& chosen = test.ints[broadcast_index(test.type.shape, place)] != 0 ? yes : no;
    copy_element(chosen, broadcast_index(chosen.type.shape, place), *result);
  });
  return result;
}

const std::map<std::string, Evaluator, std::less<>>& table() {
  static const std::map<std::string, Evaluator, std::less<>> rows{
      {"Reshape", {view, 1}},
      {"Squeeze", {view, 1}},
      {"Unsqueeze", {view, 1}},
      {"Flatten", {view, 1}},
      {"Expand", {expand, 2}},
      {"Gather", {gather, 2}},
      {"Concat", {concat, 1}},
      {"Transpose", {evaluate_transpose, 1}},
      {"Slice", {evaluate_slice, 1}},
      {"Where", {where, 3}},
      {"Tile", {tile, 2}},
      {"ConstantOfShape", {constant_of_shape, 1}},
  };
  return rows;
}

}  // namespace

std::optional<Constant> evaluate(const OnnxNode& node, size_t output) {
  if (node.inputs.empty() || (node.outputs.size() != 1 && node.op != "Split")) return std::nullopt;
  if (node.op == "Shape" || node.op == "Size") return shape_of(node);
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (node.has_input(k) && !node.constants[k]) return std::nullopt;
    if (!node.has_input(k) && node.op != "Slice" && node.op != "Clip") return std::nullopt;
  }
  const auto row = table().find(node.op);
  const Evaluator found = row == table().end() ? index_evaluator(node.op) : row->second;
  if (node.inputs.size() < found.least_inputs) return std::nullopt;
  auto result = node.op == "Split"          ? evaluate_split(node, output)
                : found.evaluate == nullptr ? evaluate_elementwise(node)
                                            : found.evaluate(node);
  return result && is_small(result->type) ? result : std::nullopt;
}

}  // namespace rlgo::onnx_io

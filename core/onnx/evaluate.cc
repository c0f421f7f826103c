// Shape arithmetic on small constants: what exporters write around Reshape, Expand, Slice and the like.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

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

Result empty_like(DType dtype, const Shape& shape) {
  Constant result{{dtype, shape}, {}, {}};
  if (!is_small(result.type)) return std::nullopt;
  return result;
}

// Calls visit(k, place) for every element k of `shape`, place = its coordinates.
template <typename Visit>
void for_each_place(const Shape& shape, const Visit& visit) {
  std::vector<int64_t> place(shape.size(), 0);
  const int64_t count = ops::TensorType(DType::i64, shape).elements();
  for (int64_t k = 0; k < count; ++k) {
    visit(k, place);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++place[d] < shape[d]) break;
      place[d] = 0;
    }
  }
}

// Index of the element of `shape` (broadcast to a larger shape) that lies at `place` of the larger one.
size_t broadcast_index(const Shape& shape, const std::vector<int64_t>& place) {
  size_t index = 0;
  const size_t skip = place.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    index = index * static_cast<size_t>(shape[d]) + static_cast<size_t>(shape[d] == 1 ? 0 : place[skip + d]);
  }
  return index;
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

// Along axis 0 of vectors, which is what shapes are.
Result concat(const OnnxNode& node) {
  auto result = Constant{{node.input_types[0].dtype, {0}}, {}, {}};
  for (const Constant* part : node.constants) {
    if (part->type.rank() != 1 || part->type.dtype != result.type.dtype) return std::nullopt;
    result.ints.insert(result.ints.end(), part->ints.begin(), part->ints.end());
    result.floats.insert(result.floats.end(), part->floats.begin(), part->floats.end());
    result.type.shape[0] += part->type.shape[0];
  }
  return is_small(result.type) ? Result(std::move(result)) : std::nullopt;
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

Result range(const OnnxNode& node) {
  const auto &start = *node.constants[0], &limit = *node.constants[1], &delta = *node.constants[2];
  if (start.is_float() || start.size() != 1 || limit.size() != 1 || delta.size() != 1 || delta.ints[0] == 0)
    return std::nullopt;
  constexpr int64_t kMost = int64_t{1} << 52;  // exact as double
  for (const Constant* bound : node.constants) {
    if (bound->ints[0] > kMost || bound->ints[0] < -kMost) return std::nullopt;
  }
  const auto span = static_cast<double>(limit.ints[0]) - static_cast<double>(start.ints[0]);
  const double count = std::max(0.0, std::ceil(span / static_cast<double>(delta.ints[0])));
  if (count > 65536) return std::nullopt;
  Constant result{{start.type.dtype, {static_cast<int64_t>(count)}}, {}, {}};
  for (int64_t k = 0; k < static_cast<int64_t>(count); ++k) result.ints.push_back(start.ints[0] + k * delta.ints[0]);
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

// Rounded to the type: 32-bit results of correctly rounded double operations on 32-bit numbers are themselves correct.
// Runtimes compute halves in 32 bits and round then.
double rounded(DType dtype, double value) {
  if (!ops::is_float(dtype) || dtype == DType::f64) return value;
  const auto single = static_cast<double>(static_cast<float>(value));
  if (dtype == DType::f32) return single;
  return constant_from_bytes({dtype, {}}, element_bytes(dtype, single)).floats[0];
}

Result cast(const OnnxNode& node) {
  const auto& from = *node.constants[0];
  const auto to = node.output_types[0].dtype;
  const bool plain = to == DType::i64 || to == DType::i32 || to == DType::boolean || ops::is_float(to);
  auto result = empty_like(to, from.type.shape);
  if (!plain || !result || from.type.dtype == DType::u64) return std::nullopt;
  for (double value : from.floats) {
    if (result->is_float()) {
      result->floats.push_back(rounded(to, value));
    } else {
      if (!(std::fabs(value) < 2147483648.0)) return std::nullopt;
      result->ints.push_back(to == DType::boolean ? value != 0 : static_cast<int64_t>(value));
    }
  }
  for (int64_t value : from.ints) {
    if (result->is_float()) {
      result->floats.push_back(rounded(to, static_cast<double>(value)));
    } else {
      if (to == DType::i32 && value != static_cast<int32_t>(value)) return std::nullopt;
      result->ints.push_back(to == DType::boolean ? value != 0 : value);
    }
  }
  return result;
}

using IntFn = std::optional<int64_t> (*)(int64_t a, int64_t b);
using FloatFn = double (*)(double a, double b);

std::optional<int64_t> add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}
std::optional<int64_t> sub(int64_t a, int64_t b) {
  int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? std::nullopt : std::optional(difference);
}
std::optional<int64_t> mul(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}
bool divides(int64_t a, int64_t b) { return b != 0 && !(b == -1 && a == std::numeric_limits<int64_t>::min()); }

// The sign is the divisor's.
std::optional<int64_t> modulo(int64_t a, int64_t b) {
  if (!divides(a, b)) return std::nullopt;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct BinaryRow {
  IntFn on_ints;
  FloatFn on_floats;  // null: integers only
  bool to_bool;
};

const std::map<std::string, BinaryRow, std::less<>>& binary_table() {
  using O = std::optional<int64_t>;
  static const std::map<std::string, BinaryRow, std::less<>> table{
      {"Add", {add, [](double a, double b) { return a + b; }, false}},
      {"Sub", {sub, [](double a, double b) { return a - b; }, false}},
      {"Mul", {mul, [](double a, double b) { return a * b; }, false}},
      {"Div",
       {[](int64_t a, int64_t b) { return divides(a, b) ? O(a / b) : O(); }, [](double a, double b) { return a / b; },
        false}},
      {"Mod", {modulo, nullptr, false}},
      {"Min", {[](int64_t a, int64_t b) { return O(std::min(a, b)); }, nullptr, false}},
      {"Max", {[](int64_t a, int64_t b) { return O(std::max(a, b)); }, nullptr, false}},
      {"Equal", {[](int64_t a, int64_t b) { return O(a == b); }, nullptr, true}},
      {"Less", {[](int64_t a, int64_t b) { return O(a < b); }, nullptr, true}},
      {"LessOrEqual", {[](int64_t a, int64_t b) { return O(a <= b); }, nullptr, true}},
      {"Greater", {[](int64_t a, int64_t b) { return O(a > b); }, nullptr, true}},
      {"GreaterOrEqual", {[](int64_t a, int64_t b) { return O(a >= b); }, nullptr, true}},
      {"And", {[](int64_t a, int64_t b) { return O(a && b); }, nullptr, true}},
      {"Or", {[](int64_t a, int64_t b) { return O(a || b); }, nullptr, true}},
  };
  return table;
}

// 64-bit signed numbers behave as the table says; narrower results must still fit their type.
bool fits(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::i64:
    case DType::boolean:
      return true;
    case DType::i32:
      return value == static_cast<int32_t>(value);
    default:
      return false;
  }
}

Result binary(const OnnxNode& node, const BinaryRow& row) {
  if (node.inputs.size() != 2) return std::nullopt;  // Min and Max take any number
  const auto &a = *node.constants[0], &b = *node.constants[1];
  const auto shape = ops::broadcast(a.type.shape, b.type.shape);
  if (!shape || a.type.dtype != b.type.dtype || (a.is_float() && !row.on_floats)) return std::nullopt;
  if (node.op == "Mod" && node.i("fmod", 0) != 0) return std::nullopt;
  auto result = empty_like(row.to_bool ? DType::boolean : a.type.dtype, *shape);
  if (!result) return std::nullopt;
  bool good = true;
  for_each_place(*shape, [&](int64_t, const auto& place) {
    const size_t i = broadcast_index(a.type.shape, place), j = broadcast_index(b.type.shape, place);
    if (a.is_float()) {
      result->floats.push_back(rounded(a.type.dtype, row.on_floats(a.floats[i], b.floats[j])));
      return;
    }
    const auto value = row.on_ints(a.ints[i], b.ints[j]);
    good = good && value && fits(a.type.dtype, a.ints[i]) && fits(result->type.dtype, *value);
    result->ints.push_back(value.value_or(0));
  });
  return good ? result : std::nullopt;
}

Result unary(const OnnxNode& node) {
  Constant result = *node.constants[0];
  for (double& value : result.floats) {
    if (node.op == "Floor") value = std::floor(value);
    if (node.op == "Ceil") value = std::ceil(value);
    if (node.op == "Sqrt") value = rounded(result.type.dtype, std::sqrt(value));
    if (node.op == "Neg") value = -value;
    if (node.op == "Abs") value = std::fabs(value);
    if (node.op == "Not") return std::nullopt;
  }
  for (int64_t& value : result.ints) {
    if (!fits(result.type.dtype, value) || value == std::numeric_limits<int64_t>::min()) return std::nullopt;
    if (node.op == "Neg") value = -value;
    if (node.op == "Abs") value = std::abs(value);
    if (node.op == "Not") value = value == 0;
    if (node.op == "Floor" || node.op == "Ceil" || node.op == "Sqrt") return std::nullopt;
    if (!fits(result.type.dtype, value)) return std::nullopt;
  }
  return result;
}

// Of a whole vector of integers.
Result reduce(const OnnxNode& node) {
  const auto& from = *node.constants[0];
  const auto& type = node.output_types[0];
  if (from.is_float() || !type.is_static() || type.elements() != 1 || from.ints.empty()) return std::nullopt;
  std::optional<int64_t> value = from.ints[0];
  for (size_t k = 1; k < from.ints.size() && value; ++k) {
    if (node.op == "ReduceProd") value = mul(*value, from.ints[k]);
    if (node.op == "ReduceSum") value = add(*value, from.ints[k]);
    if (node.op == "ReduceMin") value = std::min(*value, from.ints[k]);
    if (node.op == "ReduceMax") value = std::max(*value, from.ints[k]);
  }
  if (!value || !fits(from.type.dtype, *value)) return std::nullopt;
  return Constant{{from.type.dtype, type.shape}, {*value}, {}};
}

using Evaluator = Result (*)(const OnnxNode&);

struct Row {
  Evaluator evaluator;
  size_t least_inputs;
};

const std::map<std::string, Row, std::less<>>& table() {
  static const std::map<std::string, Row, std::less<>> rows{
      {"Reshape", {view, 1}},
      {"Squeeze", {view, 1}},
      {"Unsqueeze", {view, 1}},
      {"Flatten", {view, 1}},
      {"Expand", {expand, 2}},
      {"Gather", {gather, 2}},
      {"Concat", {concat, 1}},
      {"Transpose", {evaluate_transpose, 1}},
      {"Slice", {evaluate_slice, 1}},
      {"Range", {range, 3}},
      {"Where", {where, 3}},
      {"Cast", {cast, 1}},
      {"Floor", {unary, 1}},
      {"Ceil", {unary, 1}},
      {"Sqrt", {unary, 1}},
      {"Neg", {unary, 1}},
      {"Abs", {unary, 1}},
      {"Not", {unary, 1}},
      {"ReduceProd", {reduce, 1}},
      {"ReduceSum", {reduce, 1}},
      {"ReduceMin", {reduce, 1}},
      {"ReduceMax", {reduce, 1}},
      {"ConstantOfShape", {constant_of_shape, 1}},
  };
  return rows;
}

}  // namespace

std::optional<Constant> evaluate(const OnnxNode& node) {
  if (node.outputs.size() != 1 || node.inputs.empty()) return std::nullopt;
  if (node.op == "Shape" || node.op == "Size") return shape_of(node);
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (node.has_input(k) && !node.constants[k]) return std::nullopt;
    if (!node.has_input(k) && node.op != "Slice") return std::nullopt;
  }
  if (const auto row = binary_table().find(node.op); row != binary_table().end()) return binary(node, row->second);
  const auto row = table().find(node.op);
  if (row == table().end() || node.inputs.size() < row->second.least_inputs) return std::nullopt;
  auto result = row->second.evaluator(node);
  return result && is_small(result->type) ? result : std::nullopt;
}

}  // namespace rlgo::onnx_io

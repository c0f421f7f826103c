// Element-wise operators, activations, casts, and operators that do nothing at inference.
#include <cmath>
#include <limits>

#include "core/onnx/operator_table.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

}  // namespace

// a > b is b < a.
bool convert_greater(const OnnxNode& node, Maker& maker) {
  maker.out(find_operator(node.op)->op, {node.inputs[1], node.inputs[0]});
  return true;
}

// Whether a number of that type is exactly it; few are tried of the short types.
bool is_exact(double number, ops::DType dtype) {
  if (dtype == ops::DType::f64) return true;
  if (dtype == ops::DType::f32) return static_cast<double>(static_cast<float>(number)) == number;
  return std::abs(number) <= 64 && 2 * number == std::floor(2 * number);
}

// An exponent of another type than the base is cast to it where it is a constant number that both types have.
bool convert_pow(const OnnxNode& node, Maker& maker) {
  graph::Value exponent = node.inputs[1];
  const auto base = node.input_types[0].dtype;
  if (node.input_types[1].dtype != base) {
    bool known = true;
    const auto number = node.scalar_of("", 1, known);
    if (!number || !is_exact(*number, base)) return false;
    exponent = maker.op(Op::cast, {exponent}, {{Attr::to, std::string(ops::name(base))}});
  }
  maker.out(Op::pow, {node.inputs[0], exponent});
  return true;
}

bool convert_variadic(const OnnxNode& node, Maker& maker) {
  const Op op = find_operator(node.op)->op;
  graph::Value sum = node.inputs[0];
  const size_t last = node.inputs.size() - 1;
  for (size_t k = 1; k < last; ++k) sum = maker.op(op, {sum, node.inputs[k]});
  if (last == 0) {
    maker.pass(sum);
  } else {
    maker.out(op, {sum, node.inputs[last]});
  }
  return true;
}

bool convert_gelu(const OnnxNode& node, Maker& maker) {
  maker.out(Op::gelu, {node.inputs[0]}, {{Attr::approximate, node.s("approximate", "none")}});
  return true;
}

// Bounds are attributes before opset 11, inputs since.
bool convert_clip(const OnnxNode& node, Maker& maker) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  bool known_min = true, known_max = true;
  const auto min = node.scalar_of("min", 1, known_min), max = node.scalar_of("max", 2, known_max);
  if (!known_min || !known_max) return false;
  const double lowest = min.value_or(-kInf), highest = max.value_or(kInf);
  // A bound that lets nothing pass, or is no number: an infinite one means none to rlgo.
  if (!(lowest < kInf) || !(highest > -kInf)) return false;
  maker.out(Op::clip, {node.inputs[0]}, {{Attr::min, lowest}, {Attr::max, highest}});
  return true;
}

bool convert_cast(const OnnxNode& node, Maker& maker) {
  const auto to = node.output_types[0].dtype;
  if (to == ops::DType::other) return false;
  maker.out(Op::cast, {node.inputs[0]}, {{Attr::to, std::string(ops::name(to))}});
  return true;
}

bool convert_identity(const OnnxNode& node, Maker& maker) {
  maker.pass(node.inputs[0]);
  return true;
}

bool convert_dropout(const OnnxNode& node, Maker& maker) {
  if (!node.only_first_output()) return false;
  if (node.has_input(2)) {  // training_mode, since opset 12
    const Constant* training = node.constants[2];
    if (!training || training->ints.size() != 1 || training->ints[0] != 0) return false;
  }
  maker.pass(node.inputs[0]);
  return true;
}

}  // namespace rlgo::onnx_io

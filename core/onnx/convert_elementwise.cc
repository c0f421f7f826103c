// Element-wise operators, activations, casts, and operators that do nothing at inference.
#include <cmath>
#include <limits>

#include "core/onnx/converters.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

struct Row {
  std::string_view onnx;
  Op op;
};
constexpr Row kRows[] = {{"Add", Op::add},
                         {"Sub", Op::sub},
                         {"Mul", Op::mul},
                         {"Div", Op::div},
                         {"Sum", Op::add},
                         {"Min", Op::min},
                         {"Max", Op::max},
                         {"PRelu", Op::prelu},
                         {"Relu", Op::relu},
                         {"Sigmoid", Op::sigmoid},
                         {"Tanh", Op::tanh},
                         {"Erf", Op::erf},
                         {"Sqrt", Op::sqrt},
                         {"Exp", Op::exp},
                         {"Log", Op::log},
                         {"Neg", Op::neg},
                         {"Abs", Op::abs},
                         {"HardSwish", Op::hard_swish},
                         {"Equal", Op::equal},
                         {"Less", Op::less},
                         {"LessOrEqual", Op::less_equal},
                         {"Greater", Op::less},
                         {"GreaterOrEqual", Op::less_equal},
                         {"And", Op::logical_and},
                         {"Or", Op::logical_or},
                         {"Not", Op::logical_not}};

Op op_of(const OnnxNode& node) {
  for (const Row& row : kRows) {
    if (row.onnx == node.op) return row.op;
  }
  return Op::opaque;
}

}  // namespace

bool convert_binary(const OnnxNode& node, Maker& maker) {
  maker.out(op_of(node), {node.inputs[0], node.inputs[1]});
  return true;
}

// a > b is b < a.
bool convert_compare(const OnnxNode& node, Maker& maker) {
  const bool swapped = node.op.starts_with("Greater");
  maker.out(op_of(node), {node.inputs[swapped ? 1 : 0], node.inputs[swapped ? 0 : 1]});
  return true;
}

bool convert_where(const OnnxNode& node, Maker& maker) {
  maker.out(Op::where, node.inputs);
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
  graph::Value sum = node.inputs[0];
  const size_t last = node.inputs.size() - 1;
  for (size_t k = 1; k < last; ++k) sum = maker.op(op_of(node), {sum, node.inputs[k]});
  if (last == 0) {
    maker.pass(sum);
  } else {
    maker.out(op_of(node), {sum, node.inputs[last]});
  }
  return true;
}

bool convert_unary(const OnnxNode& node, Maker& maker) {
  maker.out(op_of(node), {node.inputs[0]});
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

bool convert_leaky_relu(const OnnxNode& node, Maker& maker) {
  maker.out(Op::leaky_relu, {node.inputs[0]}, {{Attr::alpha, node.f("alpha", 0.01)}});
  return true;
}

bool convert_hard_sigmoid(const OnnxNode& node, Maker& maker) {
  maker.out(Op::hard_sigmoid, {node.inputs[0]},
            {{Attr::alpha, node.f("alpha", 0.2)}, {Attr::beta, node.f("beta", 0.5)}});
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

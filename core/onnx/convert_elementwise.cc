// Element-wise operators, activations, casts, and operators that do nothing at inference.
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

Op op_of(const Call& call) {
  for (const Row& row : kRows) {
    if (row.onnx == call.op) return row.op;
  }
  return Op::opaque;
}

}  // namespace

bool convert_binary(const Call& call, Maker& maker) {
  maker.out(op_of(call), {call.inputs[0], call.inputs[1]});
  return true;
}

// a > b is b < a.
bool convert_compare(const Call& call, Maker& maker) {
  const bool swapped = call.op.starts_with("Greater");
  maker.out(op_of(call), {call.inputs[swapped ? 1 : 0], call.inputs[swapped ? 0 : 1]});
  return true;
}

bool convert_where(const Call& call, Maker& maker) {
  maker.out(Op::where, call.inputs);
  return true;
}

// An exponent of another type than the base is cast to it where it is constant.
bool convert_pow(const Call& call, Maker& maker) {
  graph::Value exponent = call.inputs[1];
  const auto base = call.input_types[0].dtype;
  if (call.input_types[1].dtype != base) {
    if (!call.constant(1)) return false;
    exponent = maker.op(Op::cast, {exponent}, {{Attr::to, std::string(ops::name(base))}});
  }
  maker.out(Op::pow, {call.inputs[0], exponent});
  return true;
}

bool convert_variadic(const Call& call, Maker& maker) {
  graph::Value sum = call.inputs[0];
  const size_t last = call.inputs.size() - 1;
  for (size_t k = 1; k < last; ++k) sum = maker.op(op_of(call), {sum, call.inputs[k]});
  if (last == 0) {
    maker.pass(sum);
  } else {
    maker.out(op_of(call), {sum, call.inputs[last]});
  }
  return true;
}

bool convert_unary(const Call& call, Maker& maker) {
  maker.out(op_of(call), {call.inputs[0]});
  return true;
}

bool convert_gelu(const Call& call, Maker& maker) {
  maker.out(Op::gelu, {call.inputs[0]}, {{Attr::approximate, call.s("approximate", "none")}});
  return true;
}

// Bounds are attributes before opset 11, inputs since.
bool convert_clip(const Call& call, Maker& maker) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  bool known_min = true, known_max = true;
  const auto min = call.scalar_of("min", 1, known_min), max = call.scalar_of("max", 2, known_max);
  if (!known_min || !known_max) return false;
  maker.out(Op::clip, {call.inputs[0]}, {{Attr::min, min.value_or(-kInf)}, {Attr::max, max.value_or(kInf)}});
  return true;
}

bool convert_leaky_relu(const Call& call, Maker& maker) {
  maker.out(Op::leaky_relu, {call.inputs[0]}, {{Attr::alpha, call.f("alpha", 0.01)}});
  return true;
}

bool convert_hard_sigmoid(const Call& call, Maker& maker) {
  maker.out(Op::hard_sigmoid, {call.inputs[0]},
            {{Attr::alpha, call.f("alpha", 0.2)}, {Attr::beta, call.f("beta", 0.5)}});
  return true;
}

bool convert_cast(const Call& call, Maker& maker) {
  const auto to = call.output_types[0].dtype;
  if (to == ops::DType::other) return false;
  maker.out(Op::cast, {call.inputs[0]}, {{Attr::to, std::string(ops::name(to))}});
  return true;
}

bool convert_identity(const Call& call, Maker& maker) {
  maker.pass(call.inputs[0]);
  return true;
}

bool convert_dropout(const Call& call, Maker& maker) {
  if (!call.only_first_output()) return false;
  if (call.has_input(2)) {  // training_mode, since opset 12
    const Constant* training = call.constants[2];
    if (!training || training->ints.size() != 1 || training->ints[0] != 0) return false;
  }
  maker.pass(call.inputs[0]);
  return true;
}

}  // namespace rlgo::onnx_io

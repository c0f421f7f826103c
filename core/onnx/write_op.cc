// From rlgo's operators to those of ai.onnx: the table, and the simple ones.
#include <cmath>

#include "core/base/error.h"
#include "core/onnx/writers.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

// Operators without attributes that ONNX has under one name. Erf came with opset 9; where a graph needs it, its file
// had it.
std::string_view plain_name(Op op) {
  switch (op) {
    case Op::add:
      return "Add";
    case Op::sub:
      return "Sub";
    case Op::mul:
      return "Mul";
    case Op::div:
      return "Div";
    case Op::pow:
      return "Pow";
    case Op::prelu:
      return "PRelu";
    case Op::relu:
      return "Relu";
    case Op::sigmoid:
      return "Sigmoid";
    case Op::tanh:
      return "Tanh";
    case Op::erf:
      return "Erf";
    case Op::sqrt:
      return "Sqrt";
    case Op::exp:
      return "Exp";
    case Op::log:
      return "Log";
    case Op::neg:
      return "Neg";
    case Op::abs:
      return "Abs";
    case Op::global_avg_pool:
      return "GlobalAveragePool";
    case Op::where:
      return "Where";
    case Op::equal:
      return "Equal";
    case Op::less:
      return "Less";
    case Op::less_equal:
      return "LessOrEqual";
    case Op::logical_and:
      return "And";
    case Op::logical_or:
      return "Or";
    case Op::logical_not:
      return "Not";
    default:
      return {};
  }
}

void write_min_max(Writer& w, const OutNode& n) {
  if (n.input_types[0].shape != n.input_types[1].shape && w.opset() < 8) {
    fail("{} of different shapes needs opset 8, the model has {}", ops::name(n.op), w.opset());
  }
  w.node(n.op == Op::min ? "Min" : "Max", n.inputs, n.outputs);
}

// Infinite bounds are written: runtimes take a missing one for the largest finite number, and Relu passes infinity on.
void write_clip(Writer& w, const OutNode& n) {
  const double min = n.attrs.f(Attr::min), max = n.attrs.f(Attr::max);
  const auto dtype = n.input_types[0].dtype;
  if (w.opset() < 11)
    return w.node("Clip", n.inputs, n.outputs, {{"min", static_cast<float>(min)}, {"max", static_cast<float>(max)}});
  w.node("Clip", {n.inputs[0], w.scalar(min, dtype), w.scalar(max, dtype)}, n.outputs);
}

void write_cast(Writer& w, const OutNode& n) {
  w.node("Cast", n.inputs, n.outputs, {{"to", static_cast<int64_t>(n.output_types[0].dtype)}});
}

// Small ones as numbers, large ones as an operator that runtimes fold by themselves.
void write_fill(Writer& w, const OutNode& n) {
  constexpr int64_t kSmall = 1024;
  const auto& type = n.output_types[0];
  const std::string element = element_bytes(type.dtype, n.attrs.f(Attr::value));
  if (type.elements() > kSmall && w.opset() >= 9) {
    const Constant value = constant_from_bytes({type.dtype, {1}}, element);
    w.node("ConstantOfShape", {w.ints(to_ints(type.shape))}, n.outputs, {{"value", value}});
    return;
  }
  std::string bytes;
  for (int64_t k = 0; k < type.elements(); ++k) bytes += element;
  w.constant(n.outputs[0], type, std::move(bytes));
}

void write_literal(Writer& w, const OutNode& n) {
  std::string bytes;
  for (const int64_t value : n.attrs.ints(Attr::values))
    bytes += element_bytes(n.output_types[0].dtype, static_cast<double>(value));
  w.constant(n.outputs[0], n.output_types[0], std::move(bytes));
}

void write_unless_plain(Writer& w, const OutNode& n) {
  switch (n.op) {
    case Op::conv2d:
      return write_conv2d(w, n);
    case Op::matmul:
      return write_matmul(w, n);
    case Op::conv_transpose:
      return write_conv_transpose(w, n);
    case Op::expand:
      return write_expand(w, n);
    case Op::resize:
      return write_resize(w, n);
    case Op::gelu:
      return write_gelu(w, n.inputs[0], n.input_types[0].dtype, n.attrs.word(Attr::approximate), n.outputs[0]);
    case Op::clip:
      return write_clip(w, n);
    case Op::leaky_relu:
      return w.node("LeakyRelu", n.inputs, n.outputs, {{"alpha", static_cast<float>(n.attrs.f(Attr::alpha))}});
    case Op::hard_sigmoid:
      return w.node(
          "HardSigmoid", n.inputs, n.outputs,
          {{"alpha", static_cast<float>(n.attrs.f(Attr::alpha))}, {"beta", static_cast<float>(n.attrs.f(Attr::beta))}});
    case Op::hard_swish:
      return write_hard_swish(w, n.inputs[0], n.outputs[0]);
    case Op::batch_norm:
      return w.node("BatchNormalization", n.inputs, n.outputs, {{"epsilon", static_cast<float>(n.attrs.f(Attr::eps))}});
    case Op::max_pool:
    case Op::avg_pool:
      return write_pool(w, n);
    case Op::concat:
      return w.node("Concat", n.inputs, n.outputs, {{"axis", n.attrs.i(Attr::axis)}});
    case Op::split:
      return write_split(w, n);
    case Op::transpose:
      return w.node("Transpose", n.inputs, n.outputs, {{"perm", n.attrs.ints(Attr::perm)}});
    case Op::reshape:
      return write_reshape(w, n);
    case Op::slice:
      return write_slice(w, n);
    case Op::pad:
      return write_pad(w, n);
    case Op::reduce_mean:
    case Op::reduce_sum:
    case Op::reduce_max:
      return write_reduce(w, n);
    case Op::softmax:
      return write_softmax(w, n);
    case Op::layer_norm:
      return write_layer_norm(w, n);
    case Op::gather:
      return w.node("Gather", n.inputs, n.outputs, {{"axis", n.attrs.i(Attr::axis)}});
    case Op::cast:
      return write_cast(w, n);
    case Op::fill:
      return write_fill(w, n);
    case Op::literal:
      return write_literal(w, n);
    case Op::min:
    case Op::max:
      return write_min_max(w, n);
    // No default: the compiler names an operator that is forgotten here.
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::pow:
    case Op::prelu:
    case Op::relu:
    case Op::sigmoid:
    case Op::tanh:
    case Op::erf:
    case Op::sqrt:
    case Op::exp:
    case Op::log:
    case Op::neg:
    case Op::abs:
    case Op::global_avg_pool:
    case Op::where:
    case Op::equal:
    case Op::less:
    case Op::less_equal:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not:
    case Op::input:
    case Op::weight:
    case Op::opaque:
      break;
  }
  fail("internal: no ONNX form of {} (this is a bug of rlgo)", ops::name(n.op));
}

}  // namespace

void write_op(Writer& writer, const OutNode& node) {
  if (const auto name = plain_name(node.op); !name.empty()) {
    writer.node(name, node.inputs, node.outputs);
  } else {
    write_unless_plain(writer, node);
  }
}

}  // namespace rlgo::onnx_io

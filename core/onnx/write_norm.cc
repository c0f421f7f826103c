// Activations, reductions, normalisations, with the expressions for opsets that lack the operator. The expressions are
// spelt as the fusions of common runtimes expect them.
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/onnx/operator_table.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

Names reduce_inputs(Writer& w, const std::string& input, const Ints& axes, bool axes_are_input, OnnxAttrs& attrs) {
  if (axes_are_input) return {input, w.ints(axes)};
  attrs.emplace_back("axes", axes);
  return {input};
}

std::string mean(Writer& w, const std::string& input, const Ints& axes) {
  OnnxAttrs attrs{{"keepdims", int64_t{1}}};
  const Names inputs = reduce_inputs(w, input, axes, w.opset() >= 18, attrs);
  return w.temp("ReduceMean", inputs, attrs);
}

void gelu(Writer& w, const std::string& x, ops::DType dtype, std::string_view approximate, const std::string& output) {
  if (w.opset() >= 20) {
    OnnxAttrs attrs;
    if (approximate != "none") attrs.emplace_back("approximate", std::string(approximate));
    w.node("Gelu", {x}, {output}, attrs);
    return;
  }
  const auto number = [&](double value) { return w.scalar(value, dtype); };
  if (approximate == "none") {
    if (w.opset() < 9) fail("gelu needs opset 9, the model has {}", w.opset());
    const auto erf = w.temp("Erf", {w.temp("Div", {x, number(std::numbers::sqrt2)})});
    const auto product = w.temp("Mul", {x, w.temp("Add", {erf, number(1.0)})});
    w.node("Mul", {product, number(0.5)}, {output});
    return;
  }
  const auto cube = w.temp("Mul", {w.temp("Mul", {x, x}), x});
  const auto sum = w.temp("Add", {x, w.temp("Mul", {cube, number(0.044715)})});
  const auto tanh = w.temp("Tanh", {w.temp("Mul", {sum, number(std::sqrt(2.0 / std::numbers::pi))})});
  const auto half = w.temp("Mul", {x, number(0.5)});
  w.node("Mul", {half, w.temp("Add", {tanh, number(1.0)})}, {output});
}

void hard_swish(Writer& w, const std::string& x, const std::string& output) {
  if (w.opset() >= 14) return w.node("HardSwish", {x}, {output});
  const auto gate = w.temp("HardSigmoid", {x}, {{"alpha", static_cast<float>(1.0 / 6.0)}, {"beta", 0.5F}});
  w.node("Mul", {x, gate}, {output});
}

}  // namespace

void write_activation(Writer& w, std::string_view act, const std::string& input, ops::DType dtype,
                      const std::string& output) {
  if (act == "relu") return w.node("Relu", {input}, {output});
  if (act == "sigmoid") return w.node("Sigmoid", {input}, {output});
  if (act == "tanh") return w.node("Tanh", {input}, {output});
  if (act == "gelu") return gelu(w, input, dtype, "none", output);
  if (act == "hard_swish") return hard_swish(w, input, output);
  fail("internal: no ONNX form of the activation {} (this is a bug of rlgo)", act);
}

void write_gelu(Writer& w, const OutNode& n) {
  gelu(w, n.inputs[0], n.input_types[0].dtype, n.attrs.word(Attr::approximate), n.outputs[0]);
}

void write_hard_swish(Writer& w, const OutNode& n) { hard_swish(w, n.inputs[0], n.outputs[0]); }

void write_reduce(Writer& w, const OutNode& n) {
  OnnxAttrs attrs{{"keepdims", n.attrs.i(Attr::keepdims)}};
  const bool axes_are_input = w.opset() >= (n.op == Op::reduce_sum ? 13 : 18);
  const Names inputs = reduce_inputs(w, n.inputs[0], n.attrs.ints(Attr::axes), axes_are_input, attrs);
  w.node(row_of(n.op).onnx, inputs, n.outputs, attrs);
}

// Before opset 13, they run over all axes from `axis` on: right for the last axis, which others are first brought
// to.
void write_softmax(Writer& w, const OutNode& n) {
  const int64_t axis = n.attrs.i(Attr::axis), last = n.input_types[0].rank() - 1;
  const std::string_view op = row_of(n.op).onnx;
  if (w.opset() >= 13 || axis == last) return w.node(op, n.inputs, n.outputs, {{"axis", axis}});
  Ints perm(static_cast<size_t>(last) + 1);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  const auto turned = w.temp("Transpose", n.inputs, {{"perm", perm}});
  w.node("Transpose", {w.temp(op, {turned}, {{"axis", last}})}, n.outputs, {{"perm", perm}});
}

void write_layer_norm(Writer& w, const OutNode& n) {
  const int64_t axis = n.attrs.i(Attr::axis);
  const double eps = n.attrs.f(Attr::eps);
  if (w.opset() >= 17) {
    return w.node("LayerNormalization", n.inputs, n.outputs, {{"axis", axis}, {"epsilon", static_cast<float>(eps)}});
  }
  const auto dtype = n.input_types[0].dtype;
  Ints axes(static_cast<size_t>(n.input_types[0].rank() - axis));
  std::iota(axes.begin(), axes.end(), axis);
  const auto centred = w.temp("Sub", {n.inputs[0], mean(w, n.inputs[0], axes)});
  const auto variance = mean(w, w.temp("Pow", {centred, w.scalar(2.0, dtype)}), axes);
  const auto deviation = w.temp("Sqrt", {w.temp("Add", {variance, w.scalar(eps, dtype)})});
  const auto normal = w.temp("Div", {centred, deviation});
  if (n.inputs.size() == 2) return w.node("Mul", {normal, n.inputs[1]}, n.outputs);
  w.node("Add", {w.temp("Mul", {normal, n.inputs[1]}), n.inputs[2]}, n.outputs);
}

void write_mish(Writer& w, const OutNode& n) {
  if (w.opset() >= 18) return write_plain(w, n);
  w.node("Mul", {n.inputs[0], w.temp("Tanh", {w.temp("Softplus", n.inputs)})}, n.outputs);
}

void write_swish(Writer& w, const OutNode& n) {
  if (w.opset() >= 24) return write_plain(w, n);
  const double alpha = n.attrs.f(Attr::alpha);
  const std::string& x = n.inputs[0];
  const auto scaled = alpha == 1 ? x : w.temp("Mul", {x, w.scalar(alpha, n.input_types[0].dtype)});
  w.node("Mul", {x, w.temp("Sigmoid", {scaled})}, n.outputs);
}

}  // namespace rlgo::onnx_io

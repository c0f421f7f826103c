// The simple ones of the operators that are written in a form of their own.
#include "core/base/error.h"
#include "core/onnx/writers.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

}  // namespace

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

}  // namespace rlgo::onnx_io

// Operators that place elements by indices or in blocks, sums along an axis, and triangles.
#include "core/base/error.h"
#include "core/onnx/operator_table.h"

namespace rlgo::onnx_io {

using ops::Attr;
using ops::Op;

// Before opset 11 there is no mode.
void write_depth_to_space(Writer& w, const OutNode& n) {
  const int64_t b = n.attrs.i(Attr::blocksize);
  const auto& mode = n.attrs.word(Attr::mode);
  OnnxAttrs attrs{{"blocksize", b}};
  if (mode != "DCR" && w.opset() < 11)
    fail("depth_to_space of mode {} needs opset 11, the model has {}", mode, w.opset());
  if (mode != "DCR") attrs.emplace_back("mode", mode);
  w.node("DepthToSpace", n.inputs, n.outputs, attrs);
}

void write_scatter(Writer& w, const OutNode& n) {
  const auto& reduction = n.attrs.word(Attr::reduction);
  const int since = reduction == "none" ? 11 : reduction == "max" || reduction == "min" ? 18 : 16;
  if (w.opset() < since)
    fail("{} with reduction {} needs opset {}, the model has {}", ops::name(n.op), reduction, since, w.opset());
  OnnxAttrs attrs;
  if (n.op == Op::scatter_elements) attrs.emplace_back("axis", n.attrs.i(Attr::axis));
  if (reduction != "none") attrs.emplace_back("reduction", reduction);
  w.node(row_of(n.op).onnx, n.inputs, n.outputs, attrs);
}

void write_cumsum(Writer& w, const OutNode& n) {
  if (w.opset() < 11) fail("cumsum needs opset 11, the model has {}", w.opset());
  OnnxAttrs attrs;
  if (n.attrs.i(Attr::exclusive) == 1) attrs.emplace_back("exclusive", int64_t{1});
  if (n.attrs.i(Attr::reverse) == 1) attrs.emplace_back("reverse", int64_t{1});
  const auto axis = static_cast<double>(n.attrs.i(Attr::axis));
  w.node("CumSum", {n.inputs[0], w.scalar(axis, ops::DType::i64)}, n.outputs, attrs);
}

void write_trilu(Writer& w, const OutNode& n) {
  if (w.opset() < 14) fail("trilu needs opset 14, the model has {}", w.opset());
  const int64_t diagonal = n.attrs.i(Attr::diagonal);
  Names inputs{n.inputs[0]};
  if (diagonal != 0) inputs.push_back(w.scalar(static_cast<double>(diagonal), ops::DType::i64));
  w.node("Trilu", inputs, n.outputs, {{"upper", n.attrs.i(Attr::upper)}});
}

void write_one_hot(Writer& w, const OutNode& n) {
  if (w.opset() < 9) fail("one_hot needs opset 9, the model has {}", w.opset());
  const auto depth = w.scalar(static_cast<double>(n.attrs.i(Attr::depth)), ops::DType::i64);
  w.node("OneHot", {n.inputs[0], depth, n.inputs[1]}, n.outputs, {{"axis", n.attrs.i(Attr::axis)}});
}

}  // namespace rlgo::onnx_io

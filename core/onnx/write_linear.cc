// Convolution, matrix products, pooling.
#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/writers.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

// Where the fused operator's own result goes: straight to the output, or to an activation.
template <typename Write>
void with_activation(Writer& w, const OutNode& n, const Write& write) {
  const auto& act = n.attrs.word(Attr::act);
  if (act == "none") {
    write(n.outputs[0]);
    return;
  }
  const std::string before = w.fresh(n.outputs[0] + "/before_" + act);
  write(before);
  write_activation(w, act, before, n.output_types[0].dtype, n.outputs[0]);
}

bool all_are(const Ints& values, int64_t wanted) {
  return std::ranges::all_of(values, [wanted](int64_t v) { return v == wanted; });
}

Ints kernel_of(const OutNode& n) {
  const auto& w = n.input_types[1].shape;
  return {w.begin() + 2, w.end()};
}

}  // namespace

void write_conv2d(Writer& w, const OutNode& n) {
  const OnnxAttrs attrs{{"dilations", n.attrs.ints(Attr::dilations)},
                        {"group", n.attrs.i(Attr::group)},
                        {"kernel_shape", kernel_of(n)},
                        {"pads", n.attrs.ints(Attr::pads)},
                        {"strides", n.attrs.ints(Attr::strides)}};
  with_activation(w, n, [&](const std::string& output) { w.node("Conv", n.inputs, {output}, attrs); });
}

void write_conv_transpose(Writer& w, const OutNode& n) {
  w.node("ConvTranspose", n.inputs, n.outputs,
         {{"dilations", n.attrs.ints(Attr::dilations)},
          {"group", n.attrs.i(Attr::group)},
          {"kernel_shape", kernel_of(n)},
          {"output_padding", n.attrs.ints(Attr::output_padding)},
          {"pads", n.attrs.ints(Attr::pads)},
          {"strides", n.attrs.ints(Attr::strides)}});
}

bool is_gemm(const ops::Types& types, bool transposed, int opset) {
  if (types[0].rank() != 2 || types[1].rank() != 2) return false;
  if (types.size() == 3) return types[2].rank() <= 2;
  return transposed && opset >= 11;  // since then without a bias
}

void write_matmul(Writer& w, const OutNode& n) {
  const bool transposed = n.transposed_a || n.transposed_b;
  with_activation(w, n, [&](const std::string& output) {
    if (is_gemm(n.input_types, transposed, w.opset())) {
      OnnxAttrs attrs;
      if (n.transposed_a) attrs.emplace_back("transA", int64_t{1});
      if (n.transposed_b) attrs.emplace_back("transB", int64_t{1});
      w.node("Gemm", n.inputs, {output}, attrs);
      return;
    }
    RLGO_CHECK(!transposed);
    if (n.inputs.size() == 2) {
      w.node("MatMul", n.inputs, {output});
    } else {
      w.node("Add", {w.temp("MatMul", {n.inputs[0], n.inputs[1]}), n.inputs[2]}, {output});
    }
  });
}

void write_pool(Writer& w, const OutNode& n) {
  const bool is_max = n.op == Op::max_pool;
  OnnxAttrs attrs{{"kernel_shape", n.attrs.ints(Attr::kernel)},
                  {"pads", n.attrs.ints(Attr::pads)},
                  {"strides", n.attrs.ints(Attr::strides)}};
  if (n.attrs.i(Attr::ceil_mode) != 0) {
    if (w.opset() < 10) fail("pooling that rounds up needs opset 10, the model has {}", w.opset());
    attrs.emplace_back("ceil_mode", int64_t{1});
  }
  if (is_max && !all_are(n.attrs.ints(Attr::dilations), 1)) {
    if (w.opset() < 10) fail("dilated pooling needs opset 10, the model has {}", w.opset());
    attrs.emplace_back("dilations", n.attrs.ints(Attr::dilations));
  }
  if (!is_max && n.attrs.i(Attr::count_include_pad) != 0) attrs.emplace_back("count_include_pad", int64_t{1});
  w.node(is_max ? "MaxPool" : "AveragePool", n.inputs, n.outputs, attrs);
}

}  // namespace rlgo::onnx_io

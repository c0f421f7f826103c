// Convolution, matrix products, pooling, batch normalisation.
#include <algorithm>

#include "core/onnx/converters.h"
#include "core/ops/windows.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Attrs;
using ops::Op;

// What Conv and the pools have in common, complete and explicit.
struct Window {
  Ints kernel, strides, dilations, pads;
};

bool in_range(const Ints& values, size_t count, int64_t least) {
  constexpr int64_t kMost = int64_t{1} << 31;
  return values.size() == count && std::ranges::all_of(values, [=](int64_t v) { return v >= least && v <= kMost; });
}

bool only_ones(const Ints& values) {
  return std::ranges::all_of(values, [](int64_t v) { return v == 1; });
}

// auto_pad SAME_*: as many outputs as ceil(extent / stride).
Ints same_pads(const ops::Shape& x, const Window& window, bool upper) {
  const size_t axes = window.kernel.size();
  Ints pads(2 * axes, 0);
  for (size_t d = 0; d < axes; ++d) {
    const int64_t extent = x[2 + d], stride = window.strides[d];
    const int64_t count = extent / stride + (extent % stride != 0 ? 1 : 0);
    const int64_t span = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const int64_t total = std::max<int64_t>((count - 1) * stride + span - extent, 0);
    pads[d] = upper ? total / 2 : total - total / 2;
    pads[axes + d] = total - pads[d];
  }
  return pads;
}

std::optional<Window> window_of(const OnnxNode& node, const Ints& kernel) {
  const auto& x = node.input_types[0];
  if (x.rank() < 3 || x.rank() > 2 + static_cast<int>(ops::kMostSpatialAxes)) return std::nullopt;
  const auto axes = static_cast<size_t>(x.rank() - 2);
  Window window;
  window.kernel = kernel;
  window.strides = node.ints("strides").value_or(Ints(axes, 1));
  window.dilations = node.ints("dilations").value_or(Ints(axes, 1));
  window.pads = node.ints("pads").value_or(Ints(2 * axes, 0));
  if (!in_range(kernel, axes, 1) || !in_range(window.strides, axes, 1) || !in_range(window.dilations, axes, 1))
    return std::nullopt;
  const std::string mode = node.s("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    // With a stride the padding depends on the size.
    for (int64_t d = 2; d < x.rank(); ++d) {
      if (x.is_open(d) && !only_ones(window.strides)) return std::nullopt;
    }
    window.pads = same_pads(x.shape, window, mode == "SAME_UPPER");
  } else if (mode == "VALID") {
    window.pads.assign(2 * axes, 0);
  } else if (mode != "NOTSET" && !mode.empty()) {
    return std::nullopt;
  }
  return in_range(window.pads, 2 * axes, 0) ? std::optional(std::move(window)) : std::nullopt;
}

// The windows of a convolution, whose extents are those of its kernel. Nothing where they are open or contradict an
// attribute.
std::optional<Window> window_of_kernel(const OnnxNode& node) {
  const auto& w = node.input_types[1];
  Ints kernel;
  for (int64_t d = 2; d < w.rank(); ++d) {
    if (w.is_open(d)) return std::nullopt;
    kernel.push_back(w.shape[static_cast<size_t>(d)]);
  }
  return node.ints("kernel_shape").value_or(kernel) == kernel ? window_of(node, kernel) : std::nullopt;
}

graph::Value transposed_2d(Maker& maker, graph::Value value, bool wanted) {
  return wanted ? maker.op(Op::transpose, {value}, {{Attr::perm, Ints{1, 0}}}) : value;
}

graph::Value scaled(Maker& maker, graph::Value value, double factor) {
  if (factor == 1.0) return value;
  const auto type = maker.type(value).dtype;
  // The attribute is a float, which a double shows.
  if (type == ops::DType::f64) factor = static_cast<double>(static_cast<float>(factor));
  const std::string dtype(ops::name(type));
  const auto scalar = maker.op(Op::fill, {}, {{Attr::shape, Ints{}}, {Attr::to, dtype}, {Attr::value, factor}});
  return maker.op(Op::mul, {value, scalar});
}

}  // namespace

bool convert_conv(const OnnxNode& node, Maker& maker) {
  const auto window = window_of_kernel(node);
  if (!window) return false;
  const Attrs attrs{{Attr::dilations, window->dilations},
                    {Attr::group, node.i("group", 1)},
                    {Attr::pads, window->pads},
                    {Attr::strides, window->strides}};
  std::vector<graph::Value> inputs{node.inputs[0], node.inputs[1]};
  if (node.has_input(2)) inputs.push_back(node.inputs[2]);
  maker.out(Op::conv2d, inputs, attrs);
  return true;
}

bool convert_conv_transpose(const OnnxNode& node, Maker& maker) {
  const std::string mode = node.s("auto_pad", "NOTSET");
  if (node.has("output_shape") || (mode != "NOTSET" && mode != "VALID" && !mode.empty())) return false;
  const auto window = window_of_kernel(node);
  if (!window) return false;
  std::vector<graph::Value> inputs{node.inputs[0], node.inputs[1]};
  if (node.has_input(2)) inputs.push_back(node.inputs[2]);
  maker.out(Op::conv_transpose, inputs,
            {{Attr::dilations, window->dilations},
             {Attr::group, node.i("group", 1)},
             {Attr::output_padding, node.ints("output_padding").value_or(Ints(window->kernel.size(), 0))},
             {Attr::pads, window->pads},
             {Attr::strides, window->strides}});
  return true;
}

// NumPy's matmul: a vector on the left is a row, one on the right a column, and that axis goes away again.
bool convert_matmul(const OnnxNode& node, Maker& maker) {
  const auto &a = node.input_types[0], &b = node.input_types[1];
  if (a.rank() == 0 || b.rank() == 0) return false;
  if (a.rank() > 1 && b.rank() > 1) {
    maker.out(Op::matmul, {node.inputs[0], node.inputs[1]});
    return true;
  }
  const auto left = a.rank() > 1 ? node.inputs[0] : maker.reshaped(node.inputs[0], {1, a.extent(0)});
  const auto right = b.rank() > 1 ? node.inputs[1] : maker.reshaped(node.inputs[1], {b.extent(0), 1});
  const auto product = maker.op(Op::matmul, {left, right});
  ops::Extents shape = maker.type(product).extents();
  if (!maker.ok()) return false;
  if (b.rank() == 1) shape.pop_back();
  if (a.rank() == 1) shape.erase(b.rank() == 1 ? shape.end() - 1 : shape.end() - 2);
  maker.out_reshaped(product, shape);
  return true;
}

// alpha * A' * B' + beta * C
bool convert_gemm(const OnnxNode& node, Maker& maker) {
  if (node.input_types[0].rank() != 2 || node.input_types[1].rank() != 2) return false;
  const double alpha = node.f("alpha", 1.0), beta = node.f("beta", 1.0);
  const auto a = transposed_2d(maker, node.inputs[0], node.i("transA", 0) != 0);
  const auto b = transposed_2d(maker, node.inputs[1], node.i("transB", 0) != 0);
  const bool has_bias = node.has_input(2) && beta != 0.0;
  const auto bias = has_bias ? scaled(maker, node.inputs[2], beta) : graph::Value{};
  if (!maker.ok()) return false;
  if (alpha == 1.0) {
    std::vector<graph::Value> inputs{a, b};
    if (has_bias) inputs.push_back(bias);
    maker.out(Op::matmul, inputs);
    return true;
  }
  const auto product = scaled(maker, maker.op(Op::matmul, {a, b}), alpha);
  if (has_bias) {
    maker.out(Op::add, {product, bias});
  } else {
    maker.pass(product);
  }
  return true;
}

bool convert_max_pool(const OnnxNode& node, Maker& maker) {
  const auto kernel = node.ints("kernel_shape");
  const auto window = kernel ? window_of(node, *kernel) : std::nullopt;
  if (!window || !node.only_first_output()) return false;
  // Of SAME_*, ONNX counts the dilated window, and ONNX Runtime's pools the plain one.
  if (node.s("auto_pad", "NOTSET").starts_with("SAME") && !only_ones(window->dilations)) return false;
  maker.out(Op::max_pool, {node.inputs[0]},
            {{Attr::ceil_mode, node.i("ceil_mode", 0)},
             {Attr::dilations, window->dilations},
             {Attr::kernel, window->kernel},
             {Attr::pads, window->pads},
             {Attr::strides, window->strides}});
  return true;
}

bool convert_average_pool(const OnnxNode& node, Maker& maker) {
  const auto kernel = node.ints("kernel_shape");
  const auto window = kernel ? window_of(node, *kernel) : std::nullopt;
  if (!window || !only_ones(window->dilations)) return false;
  maker.out(Op::avg_pool, {node.inputs[0]},
            {{Attr::ceil_mode, node.i("ceil_mode", 0)},
             {Attr::count_include_pad, node.i("count_include_pad", 0)},
             {Attr::kernel, window->kernel},
             {Attr::pads, window->pads},
             {Attr::strides, window->strides}});
  return true;
}

bool convert_global_average_pool(const OnnxNode& node, Maker& maker) {
  maker.out(Op::global_avg_pool, {node.inputs[0]});
  return true;
}

// Inference only. Before opset 9 the statistics may be per element (spatial = 0); since 14 training has an attribute of
// its own, before it showed in the number of outputs.
bool convert_batch_norm(const OnnxNode& node, Maker& maker) {
  if (node.listed_outputs != 1 || node.i("training_mode", 0) != 0 || node.i("spatial", 1) != 1) return false;
  maker.out(Op::batch_norm, node.inputs, {{Attr::eps, node.f("epsilon", 1e-5)}});
  return true;
}

}  // namespace rlgo::onnx_io

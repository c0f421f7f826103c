// Operators that move elements.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/onnx/writers.h"
#include "core/ops/views.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;

// Axes whose extent is 1.
Ints ones_of(const ops::TensorType& type) {
  Ints axes;
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (type.extent(d).number() == 1) axes.push_back(d);
  }
  return axes;
}

void write_axes(Writer& w, const OutNode& n, std::string_view op, const Ints& axes) {
  if (w.opset() >= 13) return w.node(op, {n.inputs[0], w.ints(axes)}, n.outputs);
  w.node(op, n.inputs, n.outputs, {{"axes", axes}});
}

// The shape computed at run time: [n, c, h * w] of an image is [0, c, 0] where the batch is empty and h is 0, and not
// to be found by Reshape. False where the rest is no product of neighbouring extents.
bool write_computed_reshape(Writer& w, const OutNode& n) {
  const auto& items = n.attrs.ints(Attr::shape);
  const auto rest = std::ranges::find(items, ops::kRestExtent) - items.begin();
  const auto axes = ops::axes_of(n.input_types[0], n.output_types[0].extent(rest));
  if (!axes || w.opset() < 10) return false;
  const std::string shape = w.temp("Shape", n.inputs);
  const auto extents = [&](int64_t first, int64_t end) {
    return w.temp("Slice", {shape, w.ints({first}), w.ints({end})});
  };
  Names parts;
  for (int64_t d = 0; d < static_cast<int64_t>(items.size()); ++d) {
    const int64_t item = items[static_cast<size_t>(d)];
    if (item >= 0) parts.push_back(w.ints({item}));
    if (item == ops::kSameExtent) parts.push_back(extents(d, d + 1));
    if (item == ops::kRestExtent)
      parts.push_back(w.temp("ReduceProd", {extents(axes->first, axes->second)}, {{"keepdims", int64_t{1}}}));
  }
  const std::string wanted = w.temp("Concat", parts, {{"axis", int64_t{0}}});
  OnnxAttrs attrs;
  if (w.opset() >= 14) attrs.emplace_back("allowzero", int64_t{1});
  w.node("Reshape", {n.inputs[0], wanted}, n.outputs, attrs);
  return true;
}

}  // namespace

void write_split(Writer& w, const OutNode& n) {
  const auto& sizes = n.attrs.ints(Attr::sizes);
  OnnxAttrs attrs{{"axis", n.attrs.i(Attr::axis)}};
  if (w.opset() >= 13) return w.node("Split", {n.inputs[0], w.ints(sizes)}, n.outputs, attrs);
  attrs.emplace_back("split", sizes);
  w.node("Split", n.inputs, n.outputs, attrs);
}

// In ONNX an extent of 0 means "as in the input", unless opset 14's allowzero states otherwise.
void write_reshape(Writer& w, const OutNode& n) {
  Ints shape = n.attrs.ints(Attr::shape);
  if (std::ranges::find(shape, ops::kSameExtent) != shape.end()) {
    if (std::ranges::find(shape, 0) != shape.end()) fail("a reshape copies extents and has an extent of 0");
    // Nothing shows the rest of a tensor without elements: what does without is written where there is such.
    using Kind = ops::View::Kind;
    const bool rest = std::ranges::find(shape, ops::kRestExtent) != shape.end();
    const auto view = rest ? ops::view_of(n.input_types[0], n.output_types[0]) : ops::View{};
    if (view.kind == Kind::squeeze) return write_axes(w, n, "Squeeze", ones_of(n.input_types[0]));
    if (view.kind == Kind::unsqueeze) return write_axes(w, n, "Unsqueeze", ones_of(n.output_types[0]));
    const bool flattens = w.opset() >= 9 || ops::is_float(n.input_types[0].dtype);
    if (view.kind == Kind::flatten && flattens) return w.node("Flatten", n.inputs, n.outputs, {{"axis", view.axis}});
    if (rest && view.kind == Kind::other && !n.leaves_rest && n.input_types[0].open && write_computed_reshape(w, n))
      return;
    std::ranges::replace(shape, ops::kSameExtent, int64_t{0});
    return w.node("Reshape", {n.inputs[0], w.ints(shape)}, n.outputs);
  }
  const bool has_zero = std::ranges::find(shape, 0) != shape.end();
  if (!has_zero) return w.node("Reshape", {n.inputs[0], w.ints(shape)}, n.outputs);
  if (w.opset() >= 14) return w.node("Reshape", {n.inputs[0], w.ints(shape)}, n.outputs, {{"allowzero", int64_t{1}}});
  const std::string empty = w.fresh(n.outputs[0] + "/empty");  // no elements: nothing of the input is in it
  w.constant(empty, n.output_types[0], {});
  w.node("Identity", {empty}, n.outputs);
}

void write_expand(Writer& w, const OutNode& n) {
  if (w.opset() < 8) fail("expand needs opset 8, the model has {}", w.opset());
  w.node("Expand", {n.inputs[0], w.ints(n.attrs.ints(Attr::shape))}, n.outputs);
}

void write_resize(Writer& w, const OutNode& n) {
  if (w.opset() < 11) fail("resize needs opset 11, the model has {}", w.opset());
  const auto& mode = n.attrs.word(Attr::mode);
  OnnxAttrs attrs{{"coordinate_transformation_mode", n.attrs.word(Attr::coordinates)}, {"mode", mode}};
  if (mode == "nearest") attrs.emplace_back("nearest_mode", n.attrs.word(Attr::rounding));
  const std::vector<double> scales{1.0, 1.0, n.attrs.f(Attr::scale_h), n.attrs.f(Attr::scale_w)};
  // Before opset 13 the region of interest, which these modes do not read, could not be left out.
  const std::string roi = w.opset() < 13 ? w.floats({}) : std::string();
  w.node("Resize", {n.inputs[0], roi, w.floats(scales)}, n.outputs, attrs);
}

void write_slice(Writer& w, const OutNode& n) {
  const auto &axes = n.attrs.ints(Attr::axes), &starts = n.attrs.ints(Attr::starts), &ends = n.attrs.ints(Attr::ends),
             &steps = n.attrs.ints(Attr::steps);
  if (axes.empty()) return w.node("Identity", n.inputs, n.outputs);
  const bool has_steps = std::ranges::any_of(steps, [](int64_t s) { return s != 1; });
  if (w.opset() < 10) {
    if (has_steps) fail("a slice with steps needs opset 10, the model has {}", w.opset());
    return w.node("Slice", n.inputs, n.outputs, {{"axes", axes}, {"starts", starts}, {"ends", ends}});
  }
  Names inputs{n.inputs[0], w.ints(starts), w.ints(ends), w.ints(axes)};
  if (has_steps) inputs.push_back(w.ints(steps));
  w.node("Slice", inputs, n.outputs);
}

void write_pad(Writer& w, const OutNode& n) {
  const double value = n.attrs.f(Attr::value);
  const auto& pads = n.attrs.ints(Attr::pads);
  if (w.opset() < 11) {
    return w.node("Pad", n.inputs, n.outputs, {{"pads", pads}, {"value", static_cast<float>(value)}});
  }
  Names inputs{n.inputs[0], w.ints(pads)};
  if (value != 0.0 || std::signbit(value)) inputs.push_back(w.scalar(value, n.input_types[0].dtype));
  w.node("Pad", inputs, n.outputs);
}

}  // namespace rlgo::onnx_io

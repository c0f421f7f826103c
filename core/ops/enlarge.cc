// Operators that make images or tensors larger: expand, resize, conv_transpose.
#include <cmath>

#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

Inferred infer_expand(Inputs in, const Attrs& attrs) {
  const auto& shape = attrs.ints(Attr::shape);
  if (in[0].dtype == DType::other || !all_at_least(shape, shape.size(), 0)) return std::nullopt;
  const Shape wanted{std::span<const int64_t>(shape)};
  if (broadcast(in[0].shape, wanted) != wanted) return std::nullopt;
  return one(in[0].dtype, wanted);
}

// floor(extent * scale), as ONNX. The epsilon takes back what 1/3 and the like lose in a float.
std::optional<int64_t> scaled(int64_t extent, double scale) {
  const double length = std::floor(static_cast<double>(extent) * scale + 1e-4);
  if (!(length >= 0) || length > 1e9) return std::nullopt;
  return static_cast<int64_t>(length);
}

constexpr std::string_view kResizeModes[] = {"linear", "nearest"};
constexpr std::string_view kCoordinates[] = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"};
constexpr std::string_view kRoundings[] = {"floor", "round_prefer_floor"};

// Of the combinations of these words, those that are known; a linear one does not read its rounding.
bool is_resize(const Attrs& attrs) {
  const auto &mode = attrs.word(Attr::mode), &coordinates = attrs.word(Attr::coordinates),
             &rounding = attrs.word(Attr::rounding);
  const double h = attrs.f(Attr::scale_h), w = attrs.f(Attr::scale_w);
  if (!(h > 0) || !(w > 0) || !std::isfinite(h) || !std::isfinite(w)) return false;
  if (mode == "linear") {
    return coordinates == "half_pixel" || coordinates == "pytorch_half_pixel" || coordinates == "align_corners";
  }
  if (mode != "nearest") return false;
  if (coordinates == "asymmetric") return rounding == "floor";
  // The nearest of the old pixels' centres is then the one that covers the new pixel.
  const bool is_whole = h == std::floor(h) && w == std::floor(w);
  return coordinates == "half_pixel" && rounding == "round_prefer_floor" && is_whole;
}

Inferred infer_resize(Inputs in, const Attrs& attrs) {
  if (!is_float(in[0].dtype) || in[0].rank() != 4 || !is_resize(attrs)) return std::nullopt;
  const auto& x = in[0].shape;
  const auto height = scaled(x[2], attrs.f(Attr::scale_h)), width = scaled(x[3], attrs.f(Attr::scale_w));
  if (!height || !width || *height < 1 || *width < 1 || x[2] < 1 || x[3] < 1) return std::nullopt;
  // With one new pixel in a row, the two kinds of half pixels differ.
  if (attrs.word(Attr::coordinates) == "pytorch_half_pixel" && (*height == 1 || *width == 1)) return std::nullopt;
  return one(in[0].dtype, {x[0], x[1], *height, *width});
}

std::optional<int64_t> spread(int64_t extent, int64_t window, int64_t stride, int64_t dilation, int64_t more,
                              int64_t pads) {
  constexpr int64_t kMost = int64_t{1} << 30;
  for (int64_t number : {extent, window, stride, dilation, more, pads}) {
    if (number > kMost) return std::nullopt;
  }
  if (extent < 1 || window < 1) return std::nullopt;
  int64_t steps = 0, span = 0;
  if (__builtin_mul_overflow(extent - 1, stride, &steps) || __builtin_mul_overflow(window - 1, dilation, &span)) {
    return std::nullopt;
  }
  const int64_t length = steps + span + 1 + more - pads;
  return length >= 1 ? std::optional(length) : std::nullopt;
}

Inferred infer_conv_transpose(Inputs in, const Attrs& attrs) {
  const auto &x = in[0].shape, &w = in[1].shape;
  if (!same_float(in) || x.size() != 4 || w.size() != 4) return std::nullopt;
  const auto &strides = attrs.ints(Attr::strides), &pads = attrs.ints(Attr::pads),
             &dilations = attrs.ints(Attr::dilations), &more = attrs.ints(Attr::output_padding);
  const int64_t group = attrs.i(Attr::group);
  if (!all_at_least(strides, 2, 1) || !all_at_least(dilations, 2, 1) || !all_at_least(pads, 4, 0) ||
      !all_at_least(more, 2, 0) || group < 1) {
    return std::nullopt;
  }
  for (size_t d = 0; d < 2; ++d) {
    if (more[d] >= std::max(strides[d], dilations[d])) return std::nullopt;
  }
  int64_t channels = 0;
  if (x[1] != w[0] || x[1] % group != 0 || x[1] < 1 || __builtin_mul_overflow(w[1], group, &channels)) {
    return std::nullopt;
  }
  if (in.size() == 3 && in[2].shape != Shape{channels}) return std::nullopt;
  if (pads[0] > (1 << 29) || pads[1] > (1 << 29) || pads[2] > (1 << 29) || pads[3] > (1 << 29)) return std::nullopt;
  const auto height = spread(x[2], w[2], strides[0], dilations[0], more[0], pads[0] + pads[2]);
  const auto width = spread(x[3], w[3], strides[1], dilations[1], more[1], pads[1] + pads[3]);
  if (!height || !width) return std::nullopt;
  return one(in[0].dtype, {x[0], channels, *height, *width});
}

Work work_expand(Inputs in, const Attrs& attrs) { return moved(0.0, in, *infer_expand(in, attrs)); }

// Linear: four multiply-adds per pixel.
Work work_resize(Inputs in, const Attrs& attrs) {
  const auto out = *infer_resize(in, attrs);
  return moved((attrs.word(Attr::mode) == "linear" ? 8.0 : 0.0) * count(out[0]), in, out);
}

Work work_conv_transpose(Inputs in, const Attrs& attrs) {
  const auto& w = in[1].shape;
  const double per_element = 2.0 * static_cast<double>(w[1]) * static_cast<double>(w[2]) * static_cast<double>(w[3]);
  const auto out = *infer_conv_transpose(in, attrs);
  return moved(per_element * count(in[0]) + (in.size() == 3 ? count(out[0]) : 0.0), in, out);
}

}  // namespace

// expand(x) shape=S: broadcast to exactly S.
OpSpec expand_spec() {
  return {Op::expand, 1, 1, false, false, {{Attr::shape, Ints{}, false}}, infer_expand, work_expand};
}
// resize(x[N,C,H,W]) -> [N, C, floor(H * scale_h), floor(W * scale_w)], ONNX Resize by scales.
OpSpec resize_spec() {
  return {Op::resize,
          1,
          1,
          false,
          false,
          {{Attr::coordinates, std::string("half_pixel"), true, kCoordinates},
           {Attr::mode, std::string("nearest"), true, kResizeModes},
           {Attr::rounding, std::string("round_prefer_floor"), true, kRoundings},
           {Attr::scale_h, 1.0, false},
           {Attr::scale_w, 1.0, false}},
          infer_resize,
          work_resize};
}
// conv_transpose(x[N,C,H,W], w[C,O/group,kh,kw], [bias[O]]) -> [N,O,Ho,Wo], ONNX ConvTranspose with explicit pads.
OpSpec conv_transpose_spec() {
  return {Op::conv_transpose,
          2,
          3,
          false,
          false,
          {{Attr::dilations, Ints{1, 1}},
           {Attr::group, int64_t{1}},
           {Attr::output_padding, Ints{0, 0}},
           {Attr::pads, Ints{0, 0, 0, 0}},
           {Attr::strides, Ints{1, 1}}},
          infer_conv_transpose,
          work_conv_transpose};
}

}  // namespace rlgo::ops

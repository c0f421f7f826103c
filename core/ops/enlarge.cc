// Operators that make images or tensors larger: expand, resize, conv_transpose.
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/windows.h"

namespace rlgo::ops {
namespace {

Inferred infer_expand(Inputs in, const Attrs& attrs) {
  return in[0].dtype != DType::other ? shaped(Op::expand, in[0].dtype, in, attrs) : std::nullopt;
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
  return is_float(in[0].dtype) && is_resize(attrs) ? shaped(Op::resize, in[0].dtype, in, attrs) : std::nullopt;
}

Inferred infer_conv_transpose(Inputs in, const Attrs& attrs) {
  return same_float(in) ? shaped(Op::conv_transpose, in[0].dtype, in, attrs) : std::nullopt;
}

Work work_expand(Inputs in, const Attrs& attrs) { return moved(0.0, in, *infer_expand(in, attrs)); }

// Linear: four multiply-adds per pixel.
Work work_resize(Inputs in, const Attrs& attrs) {
  const auto out = *infer_resize(in, attrs);
  return moved((attrs.word(Attr::mode) == "linear" ? 8.0 : 0.0) * count(out[0]), in, out);
}

Work work_conv_transpose(Inputs in, const Attrs& attrs) {
  const auto& w = in[1].shape;
  const double per_element = 2.0 * static_cast<double>(w[1]) * static_cast<double>(window_elements(w));
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

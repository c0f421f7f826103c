// conv2d(x[N,C,H,W], w[O,C/group,kh,kw], [bias[O]]) -> [N,O,Ho,Wo], ONNX Conv with an activation fused behind it.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

Inferred infer_conv2d(Inputs in, const Attrs& attrs) {
  const auto &x = in[0].shape, &w = in[1].shape;
  if (!same_float(in) || x.size() != 4 || w.size() != 4) return std::nullopt;
  const auto &strides = attrs.ints(Attr::strides), &pads = attrs.ints(Attr::pads),
             &dilations = attrs.ints(Attr::dilations);
  const int64_t group = attrs.i(Attr::group);
  if (!all_at_least(strides, 2, 1) || !all_at_least(dilations, 2, 1) || !all_at_least(pads, 4, 0) || group < 1 ||
      !is_activation(attrs.word(Attr::act))) {
    return std::nullopt;
  }
  if (x[1] % group != 0 || x[1] / group != w[1] || w[0] % group != 0 || w[2] < 1 || w[3] < 1) return std::nullopt;
  if (in.size() == 3 && in[2].shape != Shape{w[0]}) return std::nullopt;
  const auto height = window_extent(x[2], pads[0], pads[2], w[2], strides[0], dilations[0], false);
  const auto width = window_extent(x[3], pads[1], pads[3], w[3], strides[1], dilations[1], false);
  if (!height || !width) return std::nullopt;
  return one(in[0].dtype, {x[0], w[0], *height, *width});
}

Work work_conv2d(Inputs in, const Attrs& attrs) {
  const auto out = *infer_conv2d(in, attrs);
  const auto& w = in[1].shape;
  const double multiply_adds = static_cast<double>(w[1]) * static_cast<double>(w[2]) * static_cast<double>(w[3]);
  const double per_element =
      2.0 * multiply_adds + (in.size() == 3 ? 1.0 : 0.0) + activation_flops(attrs.word(Attr::act));
  return moved(per_element * count(out[0]), in, out);
}

}  // namespace

OpSpec conv2d_spec() {
  return {Op::conv2d,
          2,
          3,
          false,
          false,
          {{Attr::act, std::string("none"), true, kActivations},
           {Attr::dilations, Ints{1, 1}},
           {Attr::group, int64_t{1}},
           {Attr::pads, Ints{0, 0, 0, 0}},
           {Attr::strides, Ints{1, 1}}},
          infer_conv2d,
          work_conv2d};
}

}  // namespace rlgo::ops

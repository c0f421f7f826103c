// conv2d(x[N,C,H,W], w[O,C/group,kh,kw], [bias[O]]) -> [N,O,Ho,Wo], ONNX Conv with an activation fused behind it.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

Inferred infer_conv2d(Inputs in, const Attrs& attrs) {
  if (!same_float(in) || !is_activation(attrs.word(Attr::act))) return std::nullopt;
  return shaped(Op::conv2d, in[0].dtype, in, attrs);
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

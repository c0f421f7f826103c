// conv2d(x[N,C,H,W], w[O,C/group,kh,kw], [bias[O]]) -> [N,O,Ho,Wo], ONNX Conv with an activation fused behind it. With
// one or three spatial axes it is the same operator.
#include "core/ops/families.h"
#include "core/ops/windows.h"

namespace rlgo::ops {
namespace {

Inferred infer_conv2d(Inputs in, const Attrs& attrs) {
  if (!same_float(in) || !is_activation(attrs.word(Attr::act))) return std::nullopt;
  return shaped(Op::conv2d, in[0].dtype, in, attrs);
}

Work work_conv2d(Inputs in, const Attrs& attrs) {
  const auto out = *infer_conv2d(in, attrs);
  const auto& w = in[1].shape;
  const double multiply_adds = static_cast<double>(w[1]) * static_cast<double>(window_elements(w));
  const double per_element =
      2.0 * multiply_adds + (in.size() == 3 ? 1.0 : 0.0) + activation_flops(attrs.word(Attr::act));
  return moved(per_element * count(out[0]), in, out);
}

}  // namespace

int64_t window_elements(const Shape& shape) {
  int64_t product = 1;
  for (size_t d = 2; d < shape.size(); ++d) product *= shape[d];
  return product;
}

void fit_window_lists(Op op, std::span<const TensorType> inputs, const Attrs& given, Attrs& attrs) {
  if (!has_windows(op) || inputs.empty() || inputs[0].rank() < 3) return;
  const auto axes = static_cast<size_t>(inputs[0].rank() - 2);
  for (const auto& spec : spec(op).attrs) {
    if (!is_window_list(spec.key) || given.find(spec.key)) continue;
    const auto& fallback = std::get<Ints>(spec.fallback);
    if (!fallback.empty()) attrs.set(spec.key, Ints(axes * (spec.key == Attr::pads ? 2 : 1), fallback[0]));
  }
}

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

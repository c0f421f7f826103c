#include "core/exec/kernels.h"

namespace rlgo::exec {

using ops::Attr;
using ops::Ints;

Tensors expand_kernel(const Call& call) { return {at::expand_copy(call.in[0], call.attrs().ints(Attr::shape))}; }

Tensors resize_kernel(const Call& call) {
  const auto& attrs = call.attrs();
  const auto& out = call.info.outputs[0].shape;
  const std::vector<int64_t> size{out[2], out[3]};
  const double h = attrs.f(Attr::scale_h), w = attrs.f(Attr::scale_w);
  if (attrs.word(Attr::mode) == "nearest") return {at::upsample_nearest2d(call.in[0], size, h, w)};
  return {at::upsample_bilinear2d(call.in[0], size, attrs.word(Attr::coordinates) == "align_corners", h, w)};
}

// LibTorch pads both ends alike; other padding is cut from the result without padding.
Tensors conv_transpose_kernel(const Call& call) {
  const auto& attrs = call.attrs();
  const auto &pads = attrs.ints(Attr::pads), &strides = attrs.ints(Attr::strides),
             &dilations = attrs.ints(Attr::dilations), &more = attrs.ints(Attr::output_padding);
  const at::Tensor &x = call.in[0], &w = call.in[1];
  const int64_t group = attrs.i(Attr::group);
  const at::Tensor bias = call.in.size() == 3 ? call.in[2] : at::Tensor();
  if (pads[0] == pads[2] && pads[1] == pads[3]) {
    return {at::conv_transpose2d(x, w, bias, strides, {pads[0], pads[1]}, more, group, dilations)};
  }
  const at::Tensor full = at::conv_transpose2d(x, w, {}, strides, {0, 0}, {0, 0}, group, dilations);
  const at::Tensor cut = at::constant_pad_nd(full, {-pads[1], more[1] - pads[3], -pads[0], more[0] - pads[2]}, 0.0);
  return {bias.defined() ? cut + bias.view({1, -1, 1, 1}) : cut};
}

}  // namespace rlgo::exec

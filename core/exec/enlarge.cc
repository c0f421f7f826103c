#include "core/exec/kernels.h"

namespace rlgo::exec {

using ops::Attr;

Tensors expand_kernel(const Call& call) { return {at::expand_copy(call.in[0], call.attrs().ints(Attr::shape))}; }

Tensors resize_kernel(const Call& call) {
  const auto& attrs = call.attrs();
  const auto& out = call.info.outputs[0].shape;
  const std::vector<int64_t> size{out[2], out[3]};
  const double h = attrs.f(Attr::scale_h), w = attrs.f(Attr::scale_w);
  if (attrs.word(Attr::mode) == "nearest") return {at::upsample_nearest2d(call.in[0], size, h, w)};
  return {at::upsample_bilinear2d(call.in[0], size, attrs.word(Attr::coordinates) == "align_corners", h, w)};
}

}  // namespace rlgo::exec

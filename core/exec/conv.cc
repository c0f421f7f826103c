#include "core/exec/kernels.h"

namespace rlgo::exec {

using ops::Attr;

// LibTorch's fused convolution (mkldnn::_convolution_pointwise) was measured slower than convolution and activation in
// place for weights that are not packed beforehand, so it is not used.
Tensors conv2d_kernel(const Call& call) {
  const auto& attrs = call.attrs();
  const auto &pads = attrs.ints(Attr::pads), &strides = attrs.ints(Attr::strides),
             &dilations = attrs.ints(Attr::dilations);
  at::Tensor x = call.in[0];
  const at::Tensor& w = call.in[1];
  const at::Tensor bias = call.in.size() == 3 ? call.in[2] : at::Tensor();
  at::Tensor out;
  if (w.numel() == 0) {  // no input channels: LibTorch refuses, the sum over nothing is 0
    out = at::zeros(sizes_of(call.info.outputs[0]), x.options());
    if (bias.defined()) out.add_(bias.view({1, -1, 1, 1}));
  } else {
    const bool symmetric = pads[0] == pads[2] && pads[1] == pads[3];
    if (!symmetric) x = at::constant_pad_nd(x, {pads[1], pads[3], pads[0], pads[2]}, 0);
    const std::vector<int64_t> padding =
        symmetric ? std::vector<int64_t>{pads[0], pads[1]} : std::vector<int64_t>{0, 0};
    out = at::conv2d(x, w, bias, strides, padding, dilations, attrs.i(Attr::group));
  }
  activate_in_place(out, attrs.word(Attr::act));
  return {out};
}

}  // namespace rlgo::exec

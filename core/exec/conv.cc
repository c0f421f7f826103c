#include <algorithm>

#include "core/exec/kernels.h"
#include "core/exec/padded.h"

namespace rlgo::exec {

using ops::Attr;

namespace {

std::vector<int64_t> begins(const ops::Ints& pads) {
  return {pads.begin(), pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2)};
}
bool is_symmetric(const ops::Ints& pads) {
  return std::equal(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2),
                    pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2));
}
// A value for each channel, next to an output with so many spatial axes.
at::Tensor of_channels(const at::Tensor& bias, size_t axes) {
  std::vector<int64_t> shape(axes + 2, 1);
  shape[1] = -1;
  return bias.view(shape);
}

}  // namespace

at::Tensor padded(const at::Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                  double value) {
  std::vector<int64_t> last_first;
  for (size_t d = begin.size(); d-- > 0;) last_first.insert(last_first.end(), {begin[d], end[d]});
  return at::constant_pad_nd(x, last_first, value);
}

// LibTorch's fused convolution (mkldnn::_convolution_pointwise) was measured slower than convolution and activation in
// place for weights that are not packed beforehand, so it is not used.
Tensors conv2d_kernel(const Call& call) {
  const auto& attrs = call.attrs();
  const auto& pads = attrs.ints(Attr::pads);
  const size_t axes = pads.size() / 2;
  at::Tensor x = call.in[0];
  const at::Tensor& w = call.in[1];
  const at::Tensor bias = call.in.size() == 3 ? call.in[2] : at::Tensor();
  at::Tensor out;
  if (w.numel() == 0) {  // no input channels: LibTorch refuses, the sum over nothing is 0
    out = at::zeros(sizes_of(call.info.outputs[0]), x.options());
    if (bias.defined()) out.add_(of_channels(bias, axes));
  } else {
    const std::vector<int64_t> zeros(axes, 0);
    const bool symmetric = is_symmetric(pads);
    if (!symmetric) x = padded(x, begins(pads), {pads.begin() + static_cast<ptrdiff_t>(axes), pads.end()}, 0);
    out = at::convolution(x, w, bias, attrs.ints(Attr::strides), symmetric ? begins(pads) : zeros,
                          attrs.ints(Attr::dilations), false, zeros, attrs.i(Attr::group));
  }
  activate_in_place(out, attrs.word(Attr::act));
  return {out};
}

// LibTorch pads both ends alike; other padding is cut from the result without padding.
Tensors conv_transpose_kernel(const Call& call) {
  const auto& attrs = call.attrs();
  const auto &pads = attrs.ints(Attr::pads), &more = attrs.ints(Attr::output_padding);
  const size_t axes = pads.size() / 2;
  const at::Tensor bias = call.in.size() == 3 ? call.in[2] : at::Tensor();
  const std::vector<int64_t> zeros(axes, 0);
  const auto spread = [&](const at::Tensor& summand, const std::vector<int64_t>& padding, const ops::Ints& added) {
    return at::convolution(call.in[0], call.in[1], summand, attrs.ints(Attr::strides), padding,
                           attrs.ints(Attr::dilations), true, added, attrs.i(Attr::group));
  };
  if (is_symmetric(pads)) return {spread(bias, begins(pads), more)};
  std::vector<int64_t> front, back;
  for (size_t d = 0; d < axes; ++d) {
    front.push_back(-pads[d]);
    back.push_back(more[d] - pads[axes + d]);
  }
  const at::Tensor cut = padded(spread({}, zeros, zeros), front, back, 0);
  return {bias.defined() ? cut + of_channels(bias, axes) : cut};
}

}  // namespace rlgo::exec

#include <limits>

#include "core/exec/kernels.h"

namespace rlgo::exec {
namespace {

using ops::Attr;
using ops::Ints;

struct Window {
  const Ints &kernel, &strides, &pads;
  Ints dilations{1, 1};
  bool round_up;
  // LibTorch pads both ends alike, by at most half a kernel.
  bool direct() const {
    return pads[0] == pads[2] && pads[1] == pads[3] && 2 * pads[0] <= kernel[0] && 2 * pads[1] <= kernel[1];
  }
};

Window window_of(const Call& call) {
  const auto& attrs = call.attrs();
  return {attrs.ints(Attr::kernel),
          attrs.ints(Attr::strides),
          attrs.ints(Attr::pads),
          {1, 1},
          attrs.i(Attr::ceil_mode) == 1};
}

// x padded with `value` so that windows without padding or rounding give exactly the node's output.
at::Tensor pad_for(const Call& call, const Window& window, double value) {
  const auto& out = call.info.outputs[0].shape;
  std::vector<int64_t> ends;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t span = (out[2 + d] - 1) * window.strides[d] + window.dilations[d] * (window.kernel[d] - 1) + 1;
    ends.push_back(std::max<int64_t>(0, span - window.pads[d] - call.in[0].size(2 + static_cast<int64_t>(d))));
  }
  return at::constant_pad_nd(call.in[0], {window.pads[1], ends[1], window.pads[0], ends[0]}, value);
}

// For each window along one axis: the elements that the mean divides by. [extent of the output]
at::Tensor divisors(const Call& call, const Window& window, size_t axis, bool count_pad) {
  const int64_t extent = call.in[0].size(2 + static_cast<int64_t>(axis)), begin = window.pads[axis];
  const int64_t least = count_pad ? -begin : 0, most = count_pad ? extent + window.pads[axis + 2] : extent;
  std::vector<double> counts;
  for (int64_t o = 0; o < call.info.outputs[0].shape[2 + axis]; ++o) {
    const int64_t start = o * window.strides[axis] - begin;
    counts.push_back(static_cast<double>(std::min(start + window.kernel[axis], most) - std::max(start, least)));
  }
  return at::tensor(counts).to(call.in[0].options());
}

// oneDNN's pooling takes about a twentieth of the time of LibTorch's own (measured on ResNet's 3x3 windows).
bool has_onednn(const at::Tensor& x) {
  return at::globalContext().hasMKLDNN() && x.device().is_cpu() && x.scalar_type() == at::kFloat;
}

}  // namespace

Tensors max_pool_kernel(const Call& call) {
  Window window = window_of(call);
  window.dilations = call.attrs().ints(Attr::dilations);
  at::Tensor x = call.in[0];
  std::vector<int64_t> padding{window.pads[0], window.pads[1]};
  if (!window.direct()) {
    x = pad_for(call, window, -std::numeric_limits<double>::infinity());
    padding = {0, 0};
    window.round_up = false;
  }
  if (has_onednn(x) && window.dilations == Ints{1, 1}) {
    return {at::mkldnn_max_pool2d(x.to_mkldnn(), window.kernel, window.strides, padding, {1, 1}, window.round_up)
                .to_dense()};
  }
  return {at::max_pool2d(x, window.kernel, window.strides, padding, window.dilations, window.round_up)};
}

Tensors avg_pool_kernel(const Call& call) {
  const Window window = window_of(call);
  const bool count_pad = call.attrs().i(Attr::count_include_pad) == 1;
  const at::Tensor& x = call.in[0];
  if (window.direct()) {
    // oneDNN would also count what lies behind the padding.
    const bool onednn = has_onednn(x) && !(window.round_up && count_pad);
    const auto out = at::avg_pool2d(onednn ? x.to_mkldnn() : x, window.kernel, window.strides,
                                    {window.pads[0], window.pads[1]}, window.round_up, count_pad);
    return {onednn ? out.to_dense() : out};
  }
  const at::Tensor sums =
      at::avg_pool2d(pad_for(call, window, 0.0), window.kernel, window.strides, {0, 0}, false, true, 1);
  return {sums / at::outer(divisors(call, window, 0, count_pad), divisors(call, window, 1, count_pad))};
}

Tensors global_avg_pool_kernel(const Call& call) { return {at::mean(call.in[0], {2, 3}, true)}; }

}  // namespace rlgo::exec

#include <limits>

#include "core/exec/kernels.h"
#include "core/exec/padded.h"

namespace rlgo::exec {
namespace {

using ops::Attr;
using ops::Ints;

// LibTorch pools two and three axes: one axis becomes two, the first of one element.
struct Window {
  Ints kernel, strides, pads, dilations, out;  // `out`: the output's spatial extents
  bool round_up;
  bool is_line;

  size_t axes() const { return kernel.size(); }
  // LibTorch pads both ends alike, by at most half a kernel.
  bool direct() const {
    for (size_t d = 0; d < axes(); ++d) {
      if (pads[d] != pads[d + axes()] || 2 * pads[d] > kernel[d]) return false;
    }
    return true;
  }
  std::vector<int64_t> begins() const { return {pads.begin(), pads.begin() + static_cast<ptrdiff_t>(axes())}; }
  at::Tensor image(const at::Tensor& x) const { return is_line ? x.unsqueeze(2) : x; }
  Tensors result(const at::Tensor& y) const { return {is_line ? y.squeeze(2) : y}; }
};

Window window_of(const Call& call) {
  const auto& attrs = call.attrs();
  const auto& shape = call.info.outputs[0].shape;
  Window w{attrs.ints(Attr::kernel),
           attrs.ints(Attr::strides),
           attrs.ints(Attr::pads),
           {},
           {shape.begin() + 2, shape.end()},
           attrs.i(Attr::ceil_mode) == 1,
           false};
  w.dilations = attrs.find(Attr::dilations) ? attrs.ints(Attr::dilations) : Ints(w.axes(), 1);
  if (w.axes() > 1) return w;
  w.is_line = true;
  for (Ints* list : {&w.kernel, &w.strides, &w.dilations, &w.out}) list->insert(list->begin(), 1);
  w.pads = {0, w.pads[0], 0, w.pads[1]};
  return w;
}

// x padded with `value` so that windows without padding or rounding give exactly the node's output.
at::Tensor pad_for(const at::Tensor& x, const Window& window, double value) {
  std::vector<int64_t> ends;
  for (size_t d = 0; d < window.axes(); ++d) {
    const int64_t span = (window.out[d] - 1) * window.strides[d] + window.dilations[d] * (window.kernel[d] - 1) + 1;
    ends.push_back(std::max<int64_t>(0, span - window.pads[d] - x.size(2 + static_cast<int64_t>(d))));
  }
  return padded(x, window.begins(), ends, value);
}

// For each window along one axis: the elements that the mean divides by. It broadcasts with the output.
at::Tensor divisors(const at::Tensor& x, const Window& window, size_t axis, bool count_pad) {
  const int64_t extent = x.size(2 + static_cast<int64_t>(axis)), begin = window.pads[axis];
  const int64_t least = count_pad ? -begin : 0, most = count_pad ? extent + window.pads[axis + window.axes()] : extent;
  std::vector<double> counts;
  for (int64_t o = 0; o < window.out[axis]; ++o) {
    const int64_t start = o * window.strides[axis] - begin;
    counts.push_back(static_cast<double>(std::min(start + window.kernel[axis], most) - std::max(start, least)));
  }
  std::vector<int64_t> shape(window.axes(), 1);
  shape[axis] = -1;
  return at::tensor(counts).to(x.options()).view(shape);
}

// oneDNN's pooling takes about a twentieth of the time of LibTorch's own (measured on ResNet's 3x3 windows).
bool has_onednn(const at::Tensor& x) {
  return at::globalContext().hasMKLDNN() && x.device().is_cpu() && x.scalar_type() == at::kFloat;
}

}  // namespace

Tensors max_pool_kernel(const Call& call) {
  Window window = window_of(call);
  at::Tensor x = window.image(call.in[0]);
  std::vector<int64_t> padding = window.begins();
  if (!window.direct()) {
    x = pad_for(x, window, -std::numeric_limits<double>::infinity());
    padding.assign(window.axes(), 0);
    window.round_up = false;
  }
  if (window.axes() == 3)
    return {at::max_pool3d(x, window.kernel, window.strides, padding, window.dilations, window.round_up)};
  if (has_onednn(x) && window.dilations == Ints{1, 1}) {
    return window.result(
        at::mkldnn_max_pool2d(x.to_mkldnn(), window.kernel, window.strides, padding, {1, 1}, window.round_up)
            .to_dense());
  }
  return window.result(at::max_pool2d(x, window.kernel, window.strides, padding, window.dilations, window.round_up));
}

Tensors avg_pool_kernel(const Call& call) {
  const Window window = window_of(call);
  const bool count_pad = call.attrs().i(Attr::count_include_pad) == 1, is_volume = window.axes() == 3;
  const at::Tensor x = window.image(call.in[0]);
  const auto pool = is_volume ? at::avg_pool3d : at::avg_pool2d;
  if (window.direct()) {
    // oneDNN would also count what lies behind the padding.
    const bool onednn = !is_volume && has_onednn(x) && !(window.round_up && count_pad);
    const auto out = pool(onednn ? x.to_mkldnn() : x, window.kernel, window.strides, window.begins(), window.round_up,
                          count_pad, {});
    return window.result(onednn ? out.to_dense() : out);
  }
  at::Tensor counts = divisors(x, window, 0, count_pad);
  for (size_t d = 1; d < window.axes(); ++d) counts = counts * divisors(x, window, d, count_pad);
  const at::Tensor sums = pool(pad_for(x, window, 0.0), window.kernel, window.strides,
                               std::vector<int64_t>(window.axes(), 0), false, true, 1);
  return window.result(sums / counts);
}

Tensors global_avg_pool_kernel(const Call& call) {
  std::vector<int64_t> axes;
  for (int64_t d = 2; d < call.in[0].dim(); ++d) axes.push_back(d);
  return {at::mean(call.in[0], axes, true)};
}

}  // namespace rlgo::exec

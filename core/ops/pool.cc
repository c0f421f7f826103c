// Windows over the spatial axes of x[N,C,H,W] (ONNX MaxPool, AveragePool, GlobalAveragePool), and the window arithmetic
// that convolution shares.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

__extension__ using Wide = __int128;

Inferred infer_pool(Op op, Inputs in, const Attrs& attrs) {
  return is_float(in[0].dtype) && is_flag(attrs.i(Attr::ceil_mode)) ? shaped(op, in[0].dtype, in, attrs) : std::nullopt;
}

Inferred infer_max_pool(Inputs in, const Attrs& attrs) { return infer_pool(Op::max_pool, in, attrs); }
Inferred infer_avg_pool(Inputs in, const Attrs& attrs) {
  return is_flag(attrs.i(Attr::count_include_pad)) ? infer_pool(Op::avg_pool, in, attrs) : std::nullopt;
}

Inferred infer_global_avg_pool(Inputs in, const Attrs& attrs) {
  return is_float(in[0].dtype) ? shaped(Op::global_avg_pool, in[0].dtype, in, attrs) : std::nullopt;
}

template <auto infer_fn>
Work work_pool(Inputs in, const Attrs& attrs) {
  const auto out = *infer_fn(in, attrs);
  double per_element = 1;
  for (const int64_t extent : attrs.ints(Attr::kernel)) per_element *= static_cast<double>(extent);
  return moved(per_element * count(out[0]), in, out);
}

Work work_global_avg_pool(Inputs in, const Attrs& attrs) {
  return moved(count(in[0]), in, *infer_global_avg_pool(in, attrs));
}

std::vector<AttrSpec> pool_attrs(Attr extra, AttrValue fallback) {
  return {{Attr::ceil_mode, int64_t{0}},
          {Attr::kernel, Ints{}, false},
          {Attr::pads, Ints{0, 0, 0, 0}},
          {Attr::strides, Ints{1, 1}},
          {extra, std::move(fallback)}};
}

}  // namespace

std::optional<int64_t> window_extent(int64_t extent, int64_t pad_begin, int64_t pad_end, int64_t window, int64_t stride,
                                     int64_t dilation, bool round_up) {
  const Wide span = static_cast<Wide>(dilation) * (window - 1) + 1;
  const Wide room = static_cast<Wide>(extent) + pad_begin + pad_end - span;
  if (room < 0) return std::nullopt;
  Wide steps = (room + (round_up ? stride - 1 : 0)) / stride;
  if (round_up && steps * stride >= static_cast<Wide>(extent) + pad_begin) --steps;
  if (steps < 0 || steps >= std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(steps) + 1;
}

OpSpec max_pool_spec() {
  return {Op::max_pool,
          1,
          1,
          false,
          false,
          pool_attrs(Attr::dilations, Ints{1, 1}),
          infer_max_pool,
          work_pool<infer_max_pool>};
}
// count_include_pad=0 divides by the number of elements under the window that lie inside x; 1 also counts padding, but
// never what lies behind it (ceil_mode).
OpSpec avg_pool_spec() {
  return {Op::avg_pool,
          1,
          1,
          false,
          false,
          pool_attrs(Attr::count_include_pad, int64_t{0}),
          infer_avg_pool,
          work_pool<infer_avg_pool>};
}
OpSpec global_avg_pool_spec() {
  return {Op::global_avg_pool, 1, 1, false, false, {}, infer_global_avg_pool, work_global_avg_pool};
}

}  // namespace rlgo::ops

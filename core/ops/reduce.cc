// Operators that reduce over axes: sums and the normalisations built on them.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

Inferred infer_reduce(Inputs in, const Attrs& attrs) {
  const auto& axes = attrs.ints(Attr::axes);
  const int64_t keep = attrs.i(Attr::keepdims);
  if (!is_float(in[0].dtype) || axes.empty() || !are_axes(axes, in[0].rank()) || !is_flag(keep)) return std::nullopt;
  Shape out;
  for (int64_t d = 0; d < in[0].rank(); ++d) {
    const bool reduced = std::ranges::find(axes, d) != axes.end();
    if (!reduced) out.push_back(in[0].shape[d]);
    if (reduced && keep == 1) out.push_back(1);
  }
  return one(in[0].dtype, std::move(out));
}

// The maximum of no element has no value.
Inferred infer_reduce_max(Inputs in, const Attrs& attrs) {
  auto out = infer_reduce(in, attrs);
  if (out && in[0].elements() == 0 && out->front().elements() > 0) return std::nullopt;
  return out;
}

Inferred infer_softmax(Inputs in, const Attrs& attrs) {
  if (!is_float(in[0].dtype) || !is_axis(attrs.i(Attr::axis), in[0].rank())) return std::nullopt;
  return one(in[0].dtype, in[0].shape);
}

Inferred infer_layer_norm(Inputs in, const Attrs& attrs) {
  const int64_t axis = attrs.i(Attr::axis);
  if (!same_float(in) || !is_axis(axis, in[0].rank()) || attrs.f(Attr::eps) < 0) return std::nullopt;
  const Shape normalised(std::span(in[0].shape.data() + axis, in[0].shape.size() - axis));
  for (const auto& parameter : in.subspan(1)) {
    if (parameter.shape != normalised) return std::nullopt;
  }
  return one(in[0].dtype, in[0].shape);
}

Inferred infer_batch_norm(Inputs in, const Attrs& attrs) {
  if (!same_float(in) || in[0].rank() < 2 || attrs.f(Attr::eps) < 0) return std::nullopt;
  for (const auto& parameter : in.subspan(1)) {
    if (parameter.shape != Shape{in[0].shape[1]}) return std::nullopt;
  }
  return one(in[0].dtype, in[0].shape);
}

Work work_reduce(Inputs in, const Attrs& attrs) { return moved(count(in[0]), in, *infer_reduce(in, attrs)); }
// Maximum, difference, exp, sum, quotient.
Work work_softmax(Inputs in, const Attrs&) { return moved((4.0 + kTranscendentalFlops) * count(in[0]), in, {in[0]}); }
// Mean 1, variance 3, normalise 2, scale 1, and the bias where there is one.
Work work_layer_norm(Inputs in, const Attrs&) {
  return moved((in.size() == 3 ? 8.0 : 7.0) * count(in[0]), in, {in[0]});
}
// One scale and one shift per element.
Work work_batch_norm(Inputs in, const Attrs&) { return moved(2.0 * count(in[0]), in, {in[0]}); }

std::vector<AttrSpec> reduce_attrs() { return {{Attr::axes, Ints{}, false}, {Attr::keepdims, int64_t{1}}}; }

}  // namespace

OpSpec reduce_mean_spec() { return {Op::reduce_mean, 1, 1, false, false, reduce_attrs(), infer_reduce, work_reduce}; }
OpSpec reduce_sum_spec() { return {Op::reduce_sum, 1, 1, false, false, reduce_attrs(), infer_reduce, work_reduce}; }
OpSpec reduce_max_spec() { return {Op::reduce_max, 1, 1, false, false, reduce_attrs(), infer_reduce_max, work_reduce}; }
OpSpec softmax_spec() {
  return {Op::softmax, 1, 1, false, false, {{Attr::axis, int64_t{0}, false}}, infer_softmax, work_softmax};
}
// layer_norm(x, scale, [bias]): over axes axis..rank-1; scale and bias have exactly the shape of those axes.
OpSpec layer_norm_spec() {
  return {Op::layer_norm, 2, 3, false, false, {{Attr::axis, int64_t{0}, false}, {Attr::eps, 1e-5}}, infer_layer_norm,
          work_layer_norm};
}
// batch_norm(x[N,C,..], scale[C], bias[C], mean[C], variance[C]): inference.
OpSpec batch_norm_spec() {
  return {Op::batch_norm, 5, 5, false, false, {{Attr::eps, 1e-5}}, infer_batch_norm, work_batch_norm};
}

}  // namespace rlgo::ops

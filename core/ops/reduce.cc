// Operators that reduce over axes: sums and the normalisations built on them.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

template <Op op>
Inferred infer_float(Inputs in, const Attrs& attrs) {
  return same_float(in) ? shaped(op, in[0].dtype, in, attrs) : std::nullopt;
}

// layer_norm, batch_norm
template <Op op>
Inferred infer_norm(Inputs in, const Attrs& attrs) {
  return attrs.f(Attr::eps) >= 0 ? infer_float<op>(in, attrs) : std::nullopt;
}

template <Op op>
Work work_reduce(Inputs in, const Attrs& attrs) {
  return moved(count(in[0]), in, *infer_float<op>(in, attrs));
}
// Maximum, difference, exp, sum, quotient.
Work work_softmax(Inputs in, const Attrs&) { return moved((4.0 + kTranscendentalFlops) * count(in[0]), in, {in[0]}); }
// Mean 1, variance 3, normalise 2, scale 1, and the bias where there is one.
Work work_layer_norm(Inputs in, const Attrs&) {
  return moved((in.size() == 3 ? 8.0 : 7.0) * count(in[0]), in, {in[0]});
}
// One scale and one shift per element.
Work work_batch_norm(Inputs in, const Attrs&) { return moved(2.0 * count(in[0]), in, {in[0]}); }

template <Op op>
OpSpec reduce_spec() {
  return {op,
          1,
          1,
          false,
          false,
          {{Attr::axes, Ints{}, false}, {Attr::keepdims, int64_t{1}}},
          infer_float<op>,
          work_reduce<op>};
}

}  // namespace

OpSpec reduce_mean_spec() { return reduce_spec<Op::reduce_mean>(); }
OpSpec reduce_sum_spec() { return reduce_spec<Op::reduce_sum>(); }
OpSpec reduce_max_spec() { return reduce_spec<Op::reduce_max>(); }
OpSpec softmax_spec() {
  return {Op::softmax, 1, 1, false, false, {{Attr::axis, int64_t{0}, false}}, infer_float<Op::softmax>, work_softmax};
}
// layer_norm(x, scale, [bias]): over axes axis..rank-1; scale and bias have exactly the shape of those axes.
OpSpec layer_norm_spec() {
  return {Op::layer_norm,
          2,
          3,
          false,
          false,
          {{Attr::axis, int64_t{0}, false}, {Attr::eps, 1e-5}},
          infer_norm<Op::layer_norm>,
          work_layer_norm};
}
// batch_norm(x[N,C,..], scale[C], bias[C], mean[C], variance[C]): inference.
OpSpec batch_norm_spec() {
  return {Op::batch_norm, 5, 5, false, false, {{Attr::eps, 1e-5}}, infer_norm<Op::batch_norm>, work_batch_norm};
}

}  // namespace rlgo::ops

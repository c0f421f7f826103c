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

Inferred infer_lp_norm(Inputs in, const Attrs& attrs) {
  const int64_t order = attrs.i(Attr::order);
  return order == 1 || order == 2 ? infer_float<Op::lp_norm>(in, attrs) : std::nullopt;
}

// Of integers too; what comes out is where they stand.
template <Op op>
Inferred infer_place(Inputs in, const Attrs& attrs) {
  const bool fits = is_number(in[0].dtype) && is_flag(attrs.i(Attr::select_last));
  return fits ? shaped(op, DType::i64, in, attrs) : std::nullopt;
}

template <Op op>
Work work_place(Inputs in, const Attrs& attrs) {
  return moved(count(in[0]), in, *infer_place<op>(in, attrs));
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

template <Op op>
OpSpec place_spec() {
  return {op,
          1,
          1,
          false,
          false,
          {{Attr::axis, int64_t{0}, false}, {Attr::keepdims, int64_t{1}}, {Attr::select_last, int64_t{0}}},
          infer_place<op>,
          work_place<op>};
}

}  // namespace

OpSpec reduce_mean_spec() { return reduce_spec<Op::reduce_mean>(); }
OpSpec reduce_sum_spec() { return reduce_spec<Op::reduce_sum>(); }
OpSpec reduce_max_spec() { return reduce_spec<Op::reduce_max>(); }
OpSpec reduce_min_spec() { return reduce_spec<Op::reduce_min>(); }
OpSpec reduce_prod_spec() { return reduce_spec<Op::reduce_prod>(); }
OpSpec reduce_l1_spec() { return reduce_spec<Op::reduce_l1>(); }  // sum of |x|
OpSpec reduce_l2_spec() { return reduce_spec<Op::reduce_l2>(); }  // sqrt(sum of x^2)
OpSpec reduce_sum_square_spec() { return reduce_spec<Op::reduce_sum_square>(); }
OpSpec reduce_log_sum_spec() { return reduce_spec<Op::reduce_log_sum>(); }          // log(sum of x)
OpSpec reduce_log_sum_exp_spec() { return reduce_spec<Op::reduce_log_sum_exp>(); }  // log(sum of exp(x))
// Where along `axis` the extreme element stands: the first of equal ones, or with select_last the last.
OpSpec arg_max_spec() { return place_spec<Op::arg_max>(); }
OpSpec arg_min_spec() { return place_spec<Op::arg_min>(); }
OpSpec softmax_spec() {
  return {Op::softmax, 1, 1, false, false, {{Attr::axis, int64_t{0}, false}}, infer_float<Op::softmax>, work_softmax};
}
// log(softmax(x))
OpSpec log_softmax_spec() {
  return {Op::log_softmax, 1, 1, false, false, {{Attr::axis, int64_t{0}, false}}, infer_float<Op::log_softmax>,
          work_softmax};
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
// instance_norm(x[N,C,..], scale[C], bias[C]): over the axes behind the channels, of each channel alone.
OpSpec instance_norm_spec() {
  return {Op::instance_norm, 3, 3, false, false, {{Attr::eps, 1e-5}}, infer_norm<Op::instance_norm>, work_layer_norm};
}
// group_norm(x[N,C,..], scale[C], bias[C]): over groups of neighbouring channels together.
OpSpec group_norm_spec() {
  return {Op::group_norm,
          3,
          3,
          false,
          false,
          {{Attr::eps, 1e-5}, {Attr::group, int64_t{1}, false}},
          infer_norm<Op::group_norm>,
          work_layer_norm};
}
// rms_norm(x, scale): x / sqrt(mean(x^2) + eps) * scale over axes axis..rank-1, whose shape the scale has.
OpSpec rms_norm_spec() {
  return {Op::rms_norm,
          2,
          2,
          false,
          false,
          {{Attr::axis, int64_t{0}, false}, {Attr::eps, 1e-5}},
          infer_norm<Op::rms_norm>,
          work_layer_norm};
}
// x / its norm along one axis; 0 where that is 0.
OpSpec lp_norm_spec() {
  return {Op::lp_norm,   1,           1, false, false, {{Attr::axis, int64_t{0}, false}, {Attr::order, int64_t{2}}},
          infer_lp_norm, work_softmax};
}

}  // namespace rlgo::ops

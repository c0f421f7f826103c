// Folds over axes, and normalisations.
#include <algorithm>
#include <numeric>

#include "core/gpu/places.h"

namespace rlgo::gpu {

using ops::Attr;
using ops::Ints;
using ops::Op;

namespace {

struct Named {
  Op op;
  Fold fold;
};
constexpr Named kFolds[] = {
    {Op::reduce_sum, kSum},        {Op::reduce_mean, kMean},
    {Op::reduce_max, kMax},        {Op::reduce_min, kMin},
    {Op::reduce_prod, kProduct},   {Op::reduce_l1, kL1},
    {Op::reduce_l2, kL2},          {Op::reduce_sum_square, kSquares},
    {Op::reduce_log_sum, kLogSum}, {Op::reduce_log_sum_exp, kLogSumExp},
};

void add_fold(const NodeCall& call, Fold fold, const Ints& axes) {
  const auto &x = call.in[0], &out = call.out[0];
  if (x.type.elements() == 0) call.refuse("a fold over no elements");
  const auto steps = row_major(x.type.shape);
  ops::Shape kept, folded;
  std::vector<int64_t> kept_steps, folded_steps;
  for (size_t d = 0; d < x.type.shape.size(); ++d) {
    const bool folds = std::ranges::find(axes, static_cast<int64_t>(d)) != axes.end();
    (folds ? folded : kept).push_back(x.type.shape[d]);
    (folds ? folded_steps : kept_steps).push_back(steps[d]);
  }
  Step step = make_step(kReduce, out.buffer);
  Reduce& reduce = step.reduce;
  step.in[0] = x.buffer;
  reduce.fold = fold;
  reduce.count = out.type.elements();
  reduce.length = x.type.elements() / reduce.count;
  reduce.type = kernel_type(call, x.type);
  reduce.out_type = kernel_type(call, out.type);
  Walk outer(call, kept), inner(call, folded);
  outer.add(std::move(kept_steps));
  inner.add(std::move(folded_steps));
  outer.write(reduce.kept_axes, reduce.kept);
  inner.write(reduce.folded_axes, reduce.folded);
  outer.write_steps(0, reduce.kept_steps);
  inner.write_steps(0, reduce.folded_steps);
  if (const auto* last = call.attrs().find(Attr::select_last))
    reduce.last = *last == ops::AttrValue(int64_t{1}) ? 1 : 0;
  call.steps.add(step);
}

void add_norm(const NodeCall& call, int64_t length, int64_t span, bool centred) {
  const auto& x = call.in[0];
  Step step = make_step(kNorm, call.out[0].buffer);
  for (size_t k = 0; k < call.in.size(); ++k) step.in[k] = call.in[k].buffer;
  Norm& norm = step.norm;
  norm.length = length;
  norm.count = x.type.elements() / length;
  norm.span = span;
  norm.parameters = call.in[1].type.elements();
  norm.eps = static_cast<float>(call.attrs().f(Attr::eps));
  norm.centred = centred ? 1 : 0;
  norm.type = kernel_type(call, x.type);
  call.steps.add(step);
}

void add_group_norm(const NodeCall& call, int64_t groups) {
  const auto& shape = call.in[0].type.shape;
  const int64_t plane = call.in[0].type.elements() / (shape[0] * shape[1]);
  add_norm(call, shape[1] / groups * plane, plane, true);
}

void add_lines(const NodeCall& call, LineFunction function) {
  const auto& x = call.in[0];
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  Step step = make_step(kLines, call.out[0].buffer);
  step.in[0] = x.buffer;
  Lines& lines = step.lines;
  lines.function = function;
  lines.length = x.type.shape[axis];
  lines.count = x.type.elements() / lines.length;
  lines.step = row_major(x.type.shape)[axis];
  lines.type = kernel_type(call, x.type);
  call.steps.add(step);
}

}  // namespace

bool lower_fold(const NodeCall& call) {
  const auto& attrs = call.attrs();
  for (const auto& [op, fold] : kFolds) {
    if (op == call.info.op) return add_fold(call, fold, attrs.ints(Attr::axes)), true;
  }
  switch (call.info.op) {
    case Op::arg_max:
      return add_fold(call, kArgMax, {attrs.i(Attr::axis)}), true;
    case Op::arg_min:
      return add_fold(call, kArgMin, {attrs.i(Attr::axis)}), true;
    case Op::global_avg_pool: {
      Ints axes(static_cast<size_t>(call.in[0].type.rank() - 2));
      std::iota(axes.begin(), axes.end(), int64_t{2});
      return add_fold(call, kMean, axes), true;
    }
    case Op::layer_norm:
      return add_norm(call, call.in[1].type.elements(), 1, true), true;
    case Op::rms_norm:
      return add_norm(call, call.in[1].type.elements(), 1, false), true;
    case Op::instance_norm:
      return add_group_norm(call, call.in[0].type.shape[1]), true;
    case Op::group_norm:
      return add_group_norm(call, attrs.i(Attr::group)), true;
    case Op::softmax:
      return add_lines(call, kSoftmax), true;
    case Op::log_softmax:
      return add_lines(call, kLogSoftmax), true;
    case Op::lp_norm:
      return add_lines(call, attrs.i(Attr::order) == 2 ? kNorm2 : kNorm1), true;
    default:
      return false;
  }
}

}  // namespace rlgo::gpu

// Meaning of reductions and normalisations.
#pragma once

#include <algorithm>

#include "core/rulegen/semantics/eval_elementwise.h"

namespace rlgo::rulegen {

template <class R>  // sum, mean, maximum, ... of elements
typename R::Element reduced(R& ring, ops::Op op, const std::vector<typename R::Element>& elements) {
  using ops::Op;
  if (op == Op::reduce_max) return ring.maximum(elements);
  if (op == Op::reduce_min) return ring.minimum(elements);
  if (op == Op::reduce_prod) {
    auto product = ring.integer(1);
    for (const auto& element : elements) product = ring.mul(product, element);
    return product;
  }
  typename R::Sum sum(ring);
  for (const auto& element : elements) {
    if (op == Op::reduce_l2 || op == Op::reduce_sum_square) {
      sum.add_product(element, element);
    } else {
      sum.add(op == Op::reduce_l1            ? larger(ring, element, ring.neg(element))
              : op == Op::reduce_log_sum_exp ? ring.apply(Fn::exp, element)
                                             : element);
    }
  }
  const auto total = sum.finish();
  if (op == Op::reduce_mean) return ring.mul(total, ring.ratio(1, static_cast<int64_t>(elements.size())));
  if (op == Op::reduce_l2) return ring.apply(Fn::sqrt, total);
  return op == Op::reduce_log_sum || op == Op::reduce_log_sum_exp ? ring.apply(Fn::log, total) : total;
}

template <class R>  // sum, mean, maximum, ... over axes
bool eval_reduce(Eval<R>& e, ops::Op op) {
  auto& y = e.make();
  const auto& xs = e.shape(0);
  const auto& axes = e.attrs.ints(ops::Attr::axes);
  ops::Shape kept = xs;  // keepdims or not, the elements stand in this order
  for (int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  std::vector<std::vector<typename R::Element>> groups(y.data.size());
  walk(xs, broadcast_steps(kept, xs), [&](size_t k, size_t to) { groups[to].push_back(e.in[0]->data[k]); });
  const bool needs_element = op != ops::Op::reduce_sum && op != ops::Op::reduce_prod;
  for (size_t k = 0; k < groups.size(); ++k) {
    if (groups[k].empty() && needs_element) return false;
    y.data[k] = reduced(e.ring, op, groups[k]);
  }
  return true;
}

// Calls visit(elements of the output) for each line along `axis`: pointers to its elements.
template <class R, class F>
void each_line(Eval<R>& e, TensorOf<R>& y, F&& visit) {
  const auto axis = static_cast<size_t>(e.attrs.i(ops::Attr::axis));
  const auto& xs = e.shape(0);
  const size_t step = static_cast<size_t>(strides_of(xs)[axis]), extent = static_cast<size_t>(xs[axis]);
  std::vector<typename R::Element*> line(extent);
  for (size_t first = 0; first < y.data.size(); ++first) {
    if (first / step % extent != 0) continue;
    for (size_t k = 0; k < extent; ++k) line[k] = &y.data[first + k * step];
    visit(line);
  }
}

// exp(x) / sum of exp(x) along one axis, or its logarithm. (Subtracting the maximum first, as kernels do, changes
// nothing over the reals.)
template <class R>
bool eval_softmax(Eval<R>& e, bool log) {
  auto& y = e.make();
  for (size_t k = 0; k < y.data.size(); ++k) y.data[k] = e.ring.apply(Fn::exp, e.in[0]->data[k]);
  each_line(e, y, [&](const auto& line) {
    typename R::Sum sum(e.ring);
    for (const auto* element : line) sum.add(*element);
    const auto inverse = e.ring.div(e.ring.integer(1), sum.finish());
    for (auto* element : line) {
      *element = e.ring.mul(*element, inverse);
      if (log) *element = e.ring.apply(Fn::log, *element);
    }
  });
  return true;
}

// x / sum of |x|, or sqrt(sum of x^2), along one axis.
template <class R>
bool eval_lp_norm(Eval<R>& e) {
  auto& y = e.make();
  y.data = e.in[0]->data;
  const auto op = e.attrs.i(ops::Attr::order) == 1 ? ops::Op::reduce_l1 : ops::Op::reduce_l2;
  each_line(e, y, [&](const auto& line) {
    std::vector<typename R::Element> elements;
    for (const auto* element : line) elements.push_back(*element);
    const auto norm = reduced(e.ring, op, elements);
    for (auto* element : line) *element = e.ring.div(*element, norm);
  });
  return true;
}

// y = (x - mean) / sqrt(mean of (x - mean)^2 + eps) of each `extent` elements; where not `centred`, of mean 0.
template <class R>
void normalise(Eval<R>& e, TensorOf<R>& y, size_t extent, bool centred) {
  const auto fraction = e.ring.ratio(1, static_cast<int64_t>(extent));
  const auto eps = e.ring.number(e.attrs.f(ops::Attr::eps));
  for (size_t first = 0; first < y.data.size(); first += extent) {
    const auto* x = e.in[0]->data.data() + first;
    typename R::Sum sum(e.ring);
    for (size_t k = 0; k < extent; ++k) sum.add(x[k]);
    const auto mean = e.ring.mul(sum.finish(), fraction);
    typename R::Sum squares(e.ring);
    for (size_t k = 0; k < extent; ++k) {
      y.data[first + k] = centred ? e.ring.sub(x[k], mean) : x[k];
      squares.add_product(y.data[first + k], y.data[first + k]);
    }
    const auto deviation = e.ring.apply(Fn::sqrt, e.ring.add(e.ring.mul(squares.finish(), fraction), eps));
    for (size_t k = 0; k < extent; ++k) y.data[first + k] = e.ring.div(y.data[first + k], deviation);
  }
}

// y[k] * scale[at(k)] [+ bias[at(k)]]
template <class R, class At>
void scale_and_shift(Eval<R>& e, TensorOf<R>& y, At&& at) {
  for (size_t k = 0; k < y.data.size(); ++k) {
    y.data[k] = e.ring.mul(y.data[k], e.in[1]->data[at(k)]);
    if (e.in.size() == 3) y.data[k] = e.ring.add(y.data[k], e.in[2]->data[at(k)]);
  }
}

// Over the axes from `axis` on: layer_norm, or not centred rms_norm.
template <class R>
bool eval_layer_norm(Eval<R>& e, bool centred) {
  auto& y = e.make();
  const auto& xs = e.shape(0);
  size_t extent = 1;
  for (size_t d = static_cast<size_t>(e.attrs.i(ops::Attr::axis)); d < xs.size(); ++d)
    extent *= static_cast<size_t>(xs[d]);
  if (extent == 0) return true;
  normalise(e, y, extent, centred);
  scale_and_shift(e, y, [extent](size_t k) { return k % extent; });
  return true;
}

// Over groups of channels and what lies behind them.
template <class R>
bool eval_group_norm(Eval<R>& e, bool instance) {
  auto& y = e.make();
  if (y.data.empty()) return true;
  const auto channels = static_cast<size_t>(e.shape(0)[1]), step = static_cast<size_t>(strides_of(e.shape(0))[1]);
  const size_t groups = instance ? channels : static_cast<size_t>(e.attrs.i(ops::Attr::group));
  normalise(e, y, channels / groups * step, true);
  scale_and_shift(e, y, [&](size_t k) { return k / step % channels; });
  return true;
}

// (x - mean[c]) / sqrt(variance[c] + eps) * scale[c] + bias[c], c along axis 1.
template <class R>
bool eval_batch_norm(Eval<R>& e) {
  auto& y = e.make();
  const auto& xs = e.shape(0);
  const auto eps = e.ring.number(e.attrs.f(ops::Attr::eps));
  const size_t step = static_cast<size_t>(strides_of(xs)[1]), channels = static_cast<size_t>(xs[1]);
  std::vector<typename R::Element> deviation;
  for (const auto& variance : e.in[4]->data) deviation.push_back(e.ring.apply(Fn::sqrt, e.ring.add(variance, eps)));
  for (size_t k = 0; k < y.data.size(); ++k) {
    const size_t c = k / step % channels;
    const auto normal = e.ring.div(e.ring.sub(e.in[0]->data[k], e.in[3]->data[c]), deviation[c]);
    y.data[k] = e.ring.add(e.ring.mul(normal, e.in[1]->data[c]), e.in[2]->data[c]);
  }
  return true;
}

}  // namespace rlgo::rulegen

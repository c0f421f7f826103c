// Meaning of reductions and normalisations.
#pragma once

#include <algorithm>

#include "core/rulegen/semantics/eval_elementwise.h"

namespace rlgo::rulegen {

template <class R>  // sum, mean, maximum, ... over axes
bool eval_reduce(Eval<R>& e, ops::Op op) {
  auto& y = e.make();
  const auto& xs = e.shape(0);
  const auto& axes = e.attrs.ints(ops::Attr::axes);
  ops::Shape kept = xs;  // keepdims or not, the elements stand in this order
  for (int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  std::vector<std::vector<typename R::Element>> groups(y.data.size());
  walk(xs, broadcast_steps(kept, xs), [&](size_t k, size_t to) { groups[to].push_back(e.in[0]->data[k]); });
  for (size_t k = 0; k < groups.size(); ++k) {
    if (op == ops::Op::reduce_max) {
      y.data[k] = e.ring.maximum(groups[k]);
      continue;
    }
    typename R::Sum sum(e.ring);
    for (const auto& element : groups[k]) sum.add(element);
    y.data[k] = sum.finish();
    if (op == ops::Op::reduce_sum) continue;
    if (groups[k].empty()) return false;
    y.data[k] = e.ring.mul(y.data[k], e.ring.ratio(1, static_cast<int64_t>(groups[k].size())));
  }
  return true;
}

// exp(x) / sum of exp(x) along one axis. (Subtracting the maximum first, as kernels do, changes nothing over the
// reals.)
template <class R>
bool eval_softmax(Eval<R>& e) {
  auto& y = e.make();
  const auto axis = static_cast<size_t>(e.attrs.i(ops::Attr::axis));
  const auto& xs = e.shape(0);
  ops::Shape kept = xs;
  kept[axis] = 1;
  const size_t step = static_cast<size_t>(strides_of(xs)[axis]), extent = static_cast<size_t>(xs[axis]);
  for (size_t k = 0; k < y.data.size(); ++k) y.data[k] = e.ring.apply(Fn::exp, e.in[0]->data[k]);
  for (size_t first = 0; first < y.data.size(); ++first) {
    if (first / step % extent != 0) continue;
    typename R::Sum sum(e.ring);
    for (size_t k = 0; k < extent; ++k) sum.add(y.data[first + k * step]);
    const auto inverse = e.ring.div(e.ring.integer(1), sum.finish());
    for (size_t k = 0; k < extent; ++k) y.data[first + k * step] = e.ring.mul(y.data[first + k * step], inverse);
  }
  return true;
}

// (x - mean) / sqrt(mean of (x - mean)^2 + eps) * scale [+ bias] over the axes from `axis` on.
template <class R>
bool eval_layer_norm(Eval<R>& e) {
  auto& y = e.make();
  const auto& xs = e.shape(0);
  size_t extent = 1;
  for (size_t d = static_cast<size_t>(e.attrs.i(ops::Attr::axis)); d < xs.size(); ++d)
    extent *= static_cast<size_t>(xs[d]);
  if (extent == 0) return true;
  const auto share = e.ring.ratio(1, static_cast<int64_t>(extent));
  const auto eps = e.ring.number(e.attrs.f(ops::Attr::eps));
  for (size_t first = 0; first < y.data.size(); first += extent) {
    const auto* x = e.in[0]->data.data() + first;
    typename R::Sum sum(e.ring);
    for (size_t k = 0; k < extent; ++k) sum.add(x[k]);
    const auto mean = e.ring.mul(sum.finish(), share);
    typename R::Sum squares(e.ring);
    for (size_t k = 0; k < extent; ++k) {
      y.data[first + k] = e.ring.sub(x[k], mean);
      squares.add_product(y.data[first + k], y.data[first + k]);
    }
    const auto deviation = e.ring.apply(Fn::sqrt, e.ring.add(e.ring.mul(squares.finish(), share), eps));
    for (size_t k = 0; k < extent; ++k) {
      auto& element = y.data[first + k];
      element = e.ring.mul(e.ring.div(element, deviation), e.in[1]->data[k]);
      if (e.in.size() == 3) element = e.ring.add(element, e.in[2]->data[k]);
    }
  }
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

// Meaning of the operators that move elements.
#pragma once

#include "core/rulegen/semantics/eval_tensor.h"

namespace rlgo::rulegen {

template <class R>  // broadcast
bool eval_expand(Eval<R>& e) {
  auto& y = e.make();
  walk(y.shape(), broadcast_steps(e.shape(0), y.shape()),
       [&](size_t k, size_t from) { y.data[k] = e.in[0]->data[from]; });
  return true;
}

template <class R>  // the same elements
bool eval_reshape(Eval<R>& e) {
  e.make().data = e.in[0]->data;
  return true;
}

template <class R>  // along `axis`
bool eval_concat(Eval<R>& e) {
  auto& y = e.make();
  const auto axis = static_cast<size_t>(e.attrs.i(ops::Attr::axis));
  const auto& ys = y.type.shape;
  const size_t row = static_cast<size_t>(strides_of(ys)[axis] * ys[axis]);
  size_t before = 0;
  for (const auto* part : e.in) {
    const size_t width = static_cast<size_t>(strides_of(part->shape())[axis] * part->shape()[axis]);
    for (size_t k = 0; k < part->data.size(); ++k) y.data[k / width * row + before + k % width] = part->data[k];
    before += width;
  }
  return true;
}

template <class R>  // along `axis` into `sizes`
bool eval_split(Eval<R>& e) {
  const auto axis = static_cast<size_t>(e.attrs.i(ops::Attr::axis));
  const auto& xs = e.shape(0);
  const size_t row = static_cast<size_t>(strides_of(xs)[axis] * xs[axis]);
  size_t before = 0;
  for (size_t p = 0; p < e.types.size(); ++p) {
    auto& part = e.make(p);
    const size_t width = static_cast<size_t>(strides_of(part.shape())[axis] * part.shape()[axis]);
    for (size_t k = 0; k < part.data.size(); ++k) part.data[k] = e.in[0]->data[k / width * row + before + k % width];
    before += width;
  }
  return true;
}

template <class R>  // by `perm`
bool eval_transpose(Eval<R>& e) {
  auto& y = e.make();
  const auto& perm = e.attrs.ints(ops::Attr::perm);
  const Steps own = strides_of(e.shape(0));
  Steps steps(perm.size(), 0);
  for (size_t d = 0; d < perm.size(); ++d) steps[d] = own[static_cast<size_t>(perm[d])];
  walk(y.shape(), steps, [&](size_t k, size_t from) { y.data[k] = e.in[0]->data[from]; });
  return true;
}

template <class R>  // `starts`, `ends`, `axes`, `steps`
bool eval_slice(Eval<R>& e) {
  using ops::Attr;
  auto& y = e.make();
  Steps steps = strides_of(e.shape(0));
  const auto &axes = e.attrs.ints(Attr::axes), &starts = e.attrs.ints(Attr::starts), &by = e.attrs.ints(Attr::steps);
  size_t first = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    auto& step = steps[static_cast<size_t>(axes[k])];
    first += static_cast<size_t>(starts[k] * step);
    step *= by[k];
  }
  walk(y.shape(), steps, [&](size_t k, size_t from) { y.data[k] = e.in[0]->data[first + from]; });
  return true;
}

template <class R>  // with one value
bool eval_pad(Eval<R>& e) {
  auto& y = e.make();
  const auto& pads = e.attrs.ints(ops::Attr::pads);
  const auto value = e.ring.number(e.attrs.f(ops::Attr::value));
  std::ranges::fill(y.data, value);
  const Steps steps = strides_of(y.shape());
  size_t first = 0;
  for (size_t d = 0; d < steps.size(); ++d) first += static_cast<size_t>(pads[d] * steps[d]);
  walk(e.shape(0), steps, [&](size_t k, size_t to) { y.data[first + to] = e.in[0]->data[k]; });
  return true;
}

// Indices must be whole numbers in [0, extent).
template <class R>
bool eval_gather(Eval<R>& e) {
  auto& y = e.make();
  const auto axis = static_cast<size_t>(e.attrs.i(ops::Attr::axis));
  const auto& xs = e.shape(0);
  const size_t inner = static_cast<size_t>(strides_of(xs)[axis]), extent = static_cast<size_t>(xs[axis]);
  const size_t indices = e.in[1]->data.size();
  for (size_t k = 0; k < y.data.size(); ++k) {
    const size_t outer = k / inner / indices;
    const auto index = e.ring.whole(e.in[1]->data[k / inner % indices]);
    if (!index) return false;
    if (*index < 0 || *index >= static_cast<int64_t>(extent)) return no_element(e.ring);
    y.data[k] = e.in[0]->data[(outer * extent + static_cast<size_t>(*index)) * inner + k % inner];
  }
  return true;
}

// Between float types, and from integers to wider integers or floats: no change. Others round or wrap: not offered.
template <class R>
bool eval_cast(Eval<R>& e) {
  const auto from = e.in[0]->type.dtype, to = e.types[0].dtype;
  const bool wider = from != ops::DType::boolean && to != ops::DType::boolean && !ops::is_float(from) &&
                     ops::size_bytes(to) >= ops::size_bytes(from);
  if (from != to && !ops::is_float(to) && !wider) return false;
  if (from == ops::DType::boolean && from != to) return false;
  e.make().data = e.in[0]->data;
  return true;
}

template <class R>  // one value everywhere
bool eval_fill(Eval<R>& e) {
  auto& y = e.make();
  std::ranges::fill(y.data, e.ring.number(e.attrs.f(ops::Attr::value)));
  return true;
}

template <class R>  // the numbers that an attribute holds
bool eval_literal(Eval<R>& e) {
  auto& y = e.make();
  const auto& values = e.attrs.ints(ops::Attr::values);
  for (size_t k = 0; k < values.size(); ++k) y.data[k] = e.ring.number(static_cast<double>(values[k]));
  return true;
}

}  // namespace rlgo::rulegen

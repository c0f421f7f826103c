// Meaning of operators that place elements in blocks or by indices, of sums along an axis and of triangles.
#pragma once

#include "core/rulegen/semantics/eval_tensor.h"

namespace rlgo::rulegen {

// x seen as `from`, its axes in the order `perm`.
template <class R>
bool eval_rearranged(Eval<R>& e, const ops::Shape& from, std::initializer_list<size_t> perm) {
  auto& y = e.make();
  const Steps own = strides_of(from);
  ops::Shape shape;
  Steps steps;
  for (const size_t axis : perm) {
    shape.push_back(from[axis]);
    steps.push_back(own[axis]);
  }
  walk(shape, steps, [&](size_t k, size_t at) { y.data[k] = e.in[0]->data[at]; });
  return true;
}

template <class R>  // by `blocksize`, in the order `mode`
bool eval_depth_to_space(Eval<R>& e) {
  const auto& x = e.shape(0);
  const int64_t b = e.attrs.i(ops::Attr::blocksize), c = x[1] / (b * b);
  if (e.attrs.word(ops::Attr::mode) == "DCR")
    return eval_rearranged(e, {x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2});
  return eval_rearranged(e, {x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3});
}

template <class R>  // by `blocksize`
bool eval_space_to_depth(Eval<R>& e) {
  const auto& x = e.shape(0);
  const int64_t b = e.attrs.i(ops::Attr::blocksize);
  return eval_rearranged(e, {x[0], x[1], x[2] / b, b, x[3] / b, b}, {0, 3, 5, 1, 2, 4});
}

// Indices must be whole numbers in [0, extent).
template <class R>
bool eval_gather_elements(Eval<R>& e) {
  auto& y = e.make();
  const auto axis = static_cast<size_t>(e.attrs.i(ops::Attr::axis));
  const Steps own = strides_of(e.shape(0));
  Steps others = own;
  others[axis] = 0;
  bool all = true, inside = true;
  walk(y.shape(), others, [&](size_t k, size_t from) {
    const auto index = e.ring.whole(e.in[1]->data[k]);
    all = all && index;
    inside = inside && (!index || (*index >= 0 && *index < e.shape(0)[axis]));
    if (all && inside) y.data[k] = e.in[0]->data[from + static_cast<size_t>(*index * own[axis])];
  });
  return inside ? all : no_element(e.ring);
}

template <class R>  // along `axis`, from the end where `reverse`, without the element itself where `exclusive`
bool eval_cumsum(Eval<R>& e) {
  auto& y = e.make();
  const auto axis = static_cast<size_t>(e.attrs.i(ops::Attr::axis));
  const bool exclusive = e.attrs.i(ops::Attr::exclusive) == 1, reverse = e.attrs.i(ops::Attr::reverse) == 1;
  const int64_t step = strides_of(y.shape())[axis], length = y.shape()[axis];
  for (int64_t line = 0; line < std::ssize(y.data) / length; ++line) {
    const int64_t start = line / step * step * length + line % step;
    auto sum = e.ring.zero();
    for (int64_t i = 0; i < length; ++i) {
      const auto at = static_cast<size_t>(start + (reverse ? length - 1 - i : i) * step);
      const auto after = e.ring.add(sum, e.in[0]->data[at]);
      y.data[at] = exclusive ? sum : after;
      sum = after;
    }
  }
  return true;
}

template <class R>  // the `upper` or lower triangle of each matrix, from `diagonal` on
bool eval_trilu(Eval<R>& e) {
  auto& y = e.make();
  const bool upper = e.attrs.i(ops::Attr::upper) == 1;
  const int64_t diagonal = e.attrs.i(ops::Attr::diagonal);
  const int64_t columns = y.shape()[y.shape().size() - 1], rows = y.shape()[y.shape().size() - 2];
  for (int64_t k = 0; k < std::ssize(y.data); ++k) {
    const int64_t above = k % columns - k / columns % rows;
    if (upper ? above >= diagonal : above <= diagonal)
      y.data[static_cast<size_t>(k)] = e.in[0]->data[static_cast<size_t>(k)];
  }
  return true;
}

}  // namespace rlgo::rulegen

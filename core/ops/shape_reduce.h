// Shapes of reductions and normalisations (shapes.h).
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "core/ops/shape_parts.h"

namespace rlgo::ops::shape_of {

// The extreme of no element has no value.
template <class D>
void reduce(D& d, bool extreme) {
  const auto axes = d.constants(Attr::axes);
  const auto keep = d.constant(d.item(Attr::keepdims));
  const ExtentsOf<D>& x = d.in(0);
  if (!axes || !d.require_known(keep)) return;
  const bool increasing = std::ranges::adjacent_find(*axes, std::greater_equal<>()) == axes->end();
  if (!d.require(!axes->empty() && increasing && axes->front() >= 0 && axes->back() < static_cast<int64_t>(x.size()) &&
                 (keep == 0 || keep == 1)))
    return;
  ExtentsOf<D> out;
  for (size_t k = 0; k < x.size(); ++k) {
    const bool reduced = std::ranges::find(*axes, static_cast<int64_t>(k)) != axes->end();
    if (reduced && extreme) d.exists(x[k]);
    if (!reduced) out.push_back(x[k]);
    if (reduced && keep == 1) out.push_back(d.lit(1));
  }
  d.out(std::move(out));
}

// One axis, in which a place is looked for.
template <class D>
void arg(D& d) {
  const auto axis = d.axis();
  const auto keep = d.constant(d.item(Attr::keepdims));
  if (!axis || !d.require_known(keep) || !d.require(keep == 0 || keep == 1)) return;
  ExtentsOf<D> out = d.in(0);
  d.exists(out[*axis]);
  if (keep == 1) {
    out[*axis] = d.lit(1);
  } else {
    out.erase(out.begin() + static_cast<ptrdiff_t>(*axis));
  }
  d.out(std::move(out));
}

// Scale and bias have exactly the shape of the axes that are normalised.
template <class D>
void layer_norm(D& d) {
  const auto axis = d.axis();
  if (!axis) return;
  const ExtentsOf<D>& x = d.in(0);
  for (size_t k = 1; k < d.inputs(); ++k) same(d, d.in(k), part<D>(x, *axis, x.size()));
  d.out(x);
}

// x[N,C,..], parameters [C].
template <class D>
void batch_norm(D& d) {
  const ExtentsOf<D>& x = d.in(0);
  if (!d.require(x.size() >= 2)) return;
  for (size_t k = 1; k < d.inputs(); ++k) same(d, d.in(k), {x[1]});
  d.out(x);
}

// x[N,C,..], scale and bias [C].
template <class D>
void instance_norm(D& d) {
  if (d.require(d.in(0).size() >= 3)) batch_norm(d);
}

// The same; the groups divide the channels.
template <class D>
void group_norm(D& d) {
  const ExtentOf<D> group = d.item(Attr::group);
  d.at_least(group, 1);
  instance_norm(d);
  if (d.ok()) d.divides(d.in(0)[1], group);
}

}  // namespace rlgo::ops::shape_of

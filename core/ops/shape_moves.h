// Shapes of operators that move elements without computing (shapes.h).
#pragma once

#include <algorithm>
#include <utility>

#include "core/ops/shape_parts.h"

namespace rlgo::ops::shape_of {

// Along `axis`.
template <class D>
void concat(D& d) {
  const auto axis = d.axis();
  if (!axis) return;
  ExtentsOf<D> out = d.in(0);
  for (size_t i = 1; i < d.inputs(); ++i) {
    const ExtentsOf<D>& shape = d.in(i);
    if (!d.require(shape.size() == out.size())) return;
    for (size_t k = 0; k < shape.size(); ++k) out[k] = k == *axis ? d.add(out[k], shape[k]) : d.equal(out[k], shape[k]);
  }
  d.out(std::move(out));
}

// Pieces of `sizes` along `axis`.
template <class D>
void split(D& d) {
  const auto axis = d.axis();
  const auto& sizes = d.list(Attr::sizes);
  if (!axis || !d.require(sizes.size() > 0)) return;
  ExtentOf<D> total = d.lit(0);
  for (const auto& size : sizes) {
    total = d.add(total, size);
    ExtentsOf<D> piece = d.in(0);
    piece[*axis] = size;
    d.out(std::move(piece));
  }
  d.equal(d.in(0)[*axis], total);
  each_at_least(d, sizes, D::kLeast);
}

// By `perm`.
template <class D>
void transpose(D& d) {
  const auto perm = d.constants(Attr::perm);
  const ExtentsOf<D>& x = d.in(0);
  if (!perm || !d.require(perm->size() == x.size())) return;
  ExtentsOf<D> out;
  for (size_t k = 0; k < perm->size(); ++k) {
    const int64_t from = (*perm)[k];
    const auto here = perm->begin() + static_cast<int64_t>(k);
    if (!d.require(from >= 0 && from < static_cast<int64_t>(x.size()) && std::find(perm->begin(), here, from) == here))
      return;
    out.push_back(x[static_cast<size_t>(from)]);
  }
  d.out(std::move(out));
}

// Files express both an extent of 0 and one that is copied with a 0, so not both at once.
template <class D>
void reshape(D& d) {
  const ExtentsOf<D>& x = d.in(0);
  ExtentsOf<D> shape = d.extents(Attr::shape);
  size_t rest = shape.size();
  bool copies = false, empty = false;
  for (size_t k = 0; k < shape.size(); ++k) {
    const auto number = d.constant(shape[k]);
    empty = empty || number == 0;
    if (number == kSameExtent) {
      if (!d.require(k < x.size())) return;
      shape[k] = x[k];
      copies = true;
    } else if (number == kRestExtent) {
      if (!d.require(rest == shape.size())) return;
      rest = k;
      shape[k] = d.lit(1);
    }
  }
  if (!d.require(!copies || !empty)) return;
  if (rest < shape.size()) {
    const ExtentOf<D> others = elements(d, shape);
    d.at_least(others, 1);
    if (!d.ok()) return;
    shape[rest] = d.quotient(elements(d, x), others);
  }
  each_at_least(d, shape, D::kLeast);
  d.equal(elements(d, shape), elements(d, x));
  d.out(std::move(shape));
}

// Canonical only: axes increase, 0 <= start <= end <= extent, step >= 1.
template <class D>
void slice(D& d) {
  const auto axes = d.constants(Attr::axes);
  const auto &starts = d.list(Attr::starts), &ends = d.list(Attr::ends), &steps = d.list(Attr::steps);
  const size_t count = axes ? axes->size() : 0;
  if (!axes || !d.require(starts.size() == count && ends.size() == count) || !items(d, steps, count, 1)) return;
  ExtentsOf<D> out = d.in(0);
  int64_t before = -1;
  for (size_t k = 0; k < count; ++k) {
    const int64_t at = (*axes)[k];
    if (!d.require(at > before && at < static_cast<int64_t>(out.size()))) return;
    before = at;
    ExtentOf<D>& extent = out[static_cast<size_t>(at)];
    const ExtentOf<D> length = d.sub(ends[k], starts[k]);
    d.at_least(starts[k], 0);
    d.at_least(length, D::kLeast);
    d.at_most(ends[k], extent);
    extent = d.add(d.quotient(d.sub(length, d.lit(1)), steps[k]), d.lit(1));
  }
  d.out(std::move(out));
}

// `pads` before and behind each axis.
template <class D>
void pad(D& d) {
  const auto& pads = d.list(Attr::pads);
  ExtentsOf<D> out = d.in(0);
  const size_t rank = out.size();
  if (!items(d, pads, 2 * rank, 0)) return;
  for (size_t k = 0; k < rank; ++k) out[k] = d.add(d.add(out[k], pads[k]), pads[rank + k]);
  d.out(std::move(out));
}

// Slices of in(0) along `axis`, by the indices in(1).
template <class D>
void gather(D& d) {
  const auto axis = d.axis();
  if (!axis) return;
  const ExtentsOf<D>& x = d.in(0);
  ExtentsOf<D> out = part<D>(x, 0, *axis);
  for (const ExtentOf<D>& extent : d.in(1)) out.push_back(extent);
  for (size_t k = *axis + 1; k < x.size(); ++k) out.push_back(x[k]);
  d.out(std::move(out));
}

// Broadcast to exactly `shape`.
template <class D>
void expand(D& d) {
  ExtentsOf<D> wanted = d.extents(Attr::shape);
  if (!each_at_least(d, wanted, D::kLeast)) return;
  into(d, wanted, d.in(0));
  d.out(std::move(wanted));
}

// Leaves of a shape that an attribute names; `literal`: with as many values.
template <class D>
void fill(D& d, bool literal) {
  const ExtentsOf<D> shape = d.extents(Attr::shape);
  if (!each_at_least(d, shape, D::kLeast)) return;
  if (literal) d.equal(elements(d, shape), d.lit(static_cast<int64_t>(d.list(Attr::values).size())));
  d.out(shape);
}

}  // namespace rlgo::ops::shape_of

// What statements of shapes are made of (shapes.h).
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/ops/op.h"

namespace rlgo::ops::shape_of {

template <class D>
using ExtentOf = typename D::Extent;
template <class D>
using ExtentsOf = typename D::Extents;

// The extents [from, to) of a shape.
template <class D>
ExtentsOf<D> part(const ExtentsOf<D>& shape, size_t from, size_t to) {
  ExtentsOf<D> out;
  for (size_t k = from; k < to; ++k) out.push_back(shape[k]);
  return out;
}

// Demands that of each item; false where one certainly fails.
template <class D, class List>
bool each_at_least(D& d, const List& items, int64_t bound) {
  for (const auto& item : items) d.at_least(item, bound);
  return d.ok();
}

// Demands `count` items, none below `bound`; false where that certainly fails.
template <class D, class List>
bool items(D& d, const List& list, size_t count, int64_t bound) {
  return d.require(list.size() == count) && each_at_least(d, list, bound);
}

// Demands that the shapes are equal.
template <class D>
void same(D& d, const ExtentsOf<D>& a, const ExtentsOf<D>& b) {
  if (!d.require(a.size() == b.size())) return;
  for (size_t k = 0; k < a.size(); ++k) d.equal(a[k], b[k]);
}

// `part` broadcasts to `whole`, aligned at the end, and does not enlarge it.
template <class D>
void into(D& d, const ExtentsOf<D>& whole, const ExtentsOf<D>& part) {
  if (!d.require(part.size() <= whole.size())) return;
  const size_t shift = whole.size() - part.size();
  for (size_t k = 0; k < part.size(); ++k) d.into(whole[shift + k], part[k]);
}

// What the shapes broadcast to, with its demands.
template <class D>
ExtentsOf<D> broadcast(D& d, std::initializer_list<const ExtentsOf<D>*> shapes) {
  size_t rank = 0;
  for (const ExtentsOf<D>* shape : shapes) rank = std::max<size_t>(rank, shape->size());
  ExtentsOf<D> out;
  for (size_t k = 0; k < rank; ++k) {
    ExtentsOf<D> members;
    for (const ExtentsOf<D>* shape : shapes) {
      if (k + shape->size() >= rank) members.push_back((*shape)[k + shape->size() - rank]);
    }
    out.push_back(members.size() == 1 ? members[0] : d.joint(members));
  }
  return out;
}

// The product of the extents.
template <class D>
ExtentOf<D> elements(D& d, const ExtentsOf<D>& shape) {
  ExtentOf<D> product = d.lit(1);
  for (const ExtentOf<D>& extent : shape) product = d.mul(product, extent);
  return product;
}

}  // namespace rlgo::ops::shape_of

// Shapes of operators that place elements by indices or in blocks (shapes.h).
#pragma once

#include <utility>

#include "core/ops/shape_parts.h"

namespace rlgo::ops::shape_of {

// Images whose channels become blocks of pixels (`to_space`), or the other way round.
template <class D>
void depth_and_space(D& d, bool to_space) {
  const ExtentsOf<D>& x = d.in(0);
  const ExtentOf<D> block = d.item(Attr::blocksize);
  if (!d.require(x.size() == 4)) return;
  d.at_least(block, 1);
  if (!d.ok()) return;
  ExtentsOf<D> out{x[0]};
  if (to_space) {
    out.push_back(d.exact(x[1], d.mul(block, block)));
    for (size_t k = 2; k < 4; ++k) out.push_back(d.mul(x[k], block));
  } else {
    out.push_back(d.mul(x[1], d.mul(block, block)));
    for (size_t k = 2; k < 4; ++k) out.push_back(d.exact(x[k], block));
  }
  d.out(std::move(out));
}

// Demands that `part` has the rank of `whole`, and is no longer along the other axes than `axis`.
template <class D>
bool within(D& d, const ExtentsOf<D>& whole, const ExtentsOf<D>& part, size_t axis) {
  if (!d.require(part.size() == whole.size())) return false;
  for (size_t k = 0; k < part.size(); ++k) {
    if (k != axis) d.at_least(d.sub(whole[k], part[k]), 0);
  }
  return d.ok();
}

// Elements of in(0) along `axis`, by an index for each in in(1).
template <class D>
void gather_elements(D& d) {
  const auto axis = d.axis();
  if (axis && within<D>(d, d.in(0), d.in(1), *axis)) d.out(d.in(1));
}

// in(2) put into in(0) along `axis`, by an index for each in in(1).
template <class D>
void scatter_elements(D& d) {
  const auto axis = d.axis();
  if (!axis || !within<D>(d, d.in(0), d.in(1), *axis)) return;
  same(d, d.in(1), d.in(2));
  d.out(d.in(0));
}

// What a list of indices of `places`, behind `batch` axes, picks out of x: [places but the last..., rest of x...].
template <class D>
std::optional<ExtentsOf<D>> picked(D& d, const ExtentsOf<D>& x, const ExtentsOf<D>& places, size_t batch) {
  if (!d.require(places.size() > batch && x.size() > batch)) return std::nullopt;
  const auto depth = d.constant(places.back());
  const auto most = static_cast<int64_t>(x.size() - batch);
  if (!d.require_known(depth) || !d.require(*depth >= 1 && *depth <= most)) return std::nullopt;
  for (size_t k = 0; k < batch; ++k) d.equal(x[k], places[k]);
  ExtentsOf<D> out = part<D>(places, 0, places.size() - 1);
  for (size_t k = batch + static_cast<size_t>(*depth); k < x.size(); ++k) out.push_back(x[k]);
  return out;
}

// What the lists of indices in(1) pick out of in(0), behind `batch_dims` axes.
template <class D>
void gather_nd(D& d) {
  const auto batch = d.constant(d.item(Attr::batch_dims));
  if (!d.require_known(batch) || !d.require(*batch >= 0)) return;
  if (auto out = picked(d, d.in(0), d.in(1), static_cast<size_t>(*batch))) d.out(std::move(*out));
}

// in(2) put where the lists of indices in(1) lead in in(0).
template <class D>
void scatter_nd(D& d) {
  const auto parts = picked(d, d.in(0), d.in(1), 0);
  if (!parts) return;
  same(d, *parts, d.in(2));
  d.out(d.in(0));
}

// Indices in(0) become rows of `depth` along a new axis, of the two numbers in(1).
template <class D>
void one_hot(D& d) {
  const auto axis = d.constant(d.item(Attr::axis));
  const ExtentsOf<D>& x = d.in(0);
  const ExtentOf<D> depth = d.item(Attr::depth);
  if (!d.require_known(axis) || !d.require(*axis >= 0 && *axis <= static_cast<int64_t>(x.size()))) return;
  d.at_least(depth, 1);
  same(d, d.in(1), {d.lit(2)});
  ExtentsOf<D> out = part<D>(x, 0, static_cast<size_t>(*axis));
  out.push_back(depth);
  for (size_t k = static_cast<size_t>(*axis); k < x.size(); ++k) out.push_back(x[k]);
  d.out(std::move(out));
}

}  // namespace rlgo::ops::shape_of

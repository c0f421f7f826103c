// Shapes of operators on sequences (shapes.h).
#pragma once

#include <utility>

#include "core/ops/shape_parts.h"

namespace rlgo::ops::shape_of {

// q[B,H,S,D], k[B,G,T,D], v[B,G,T,E] -> [B,H,S,E], G divides H; with `heads` q[B,S,H*D], k[B,T,G*D], v[B,T,G*E] ->
// [B,S,H*E]. The mask broadcasts to [B,H,S,T] in all but its last two axes.
template <class D>
void attention(D& d) {
  const auto heads = d.constant(d.item(Attr::heads)), groups = d.constant(d.item(Attr::kv_heads));
  if (!d.require_known(heads) || !d.require_known(groups)) return;
  const ExtentsOf<D>&q = d.in(0), &k = d.in(1), &v = d.in(2);
  const bool own_axis = *heads == 0;
  const size_t rank = own_axis ? 4 : 3;
  const bool fits = own_axis ? *groups == 0 : *heads > 0 && *groups > 0 && *heads % *groups == 0;
  if (!d.require(fits && q.size() == rank && k.size() == rank && v.size() == rank)) return;
  d.equal(q[0], k[0]);
  d.equal(q[0], v[0]);
  d.equal(k[rank - 2], v[rank - 2]);
  d.exists(k[rank - 2]);
  ExtentsOf<D> scores{q[0], own_axis ? q[1] : d.lit(*heads), q[rank - 2], k[rank - 2]}, out = q;
  if (own_axis) {
    d.equal(k[1], v[1]);
    d.exists(k[1]);
    d.equal(q[3], k[3]);
    if (!d.ok()) return;
    d.divides(q[1], k[1]);
    out[3] = v[3];
  } else {
    d.divides(q[2], d.lit(*heads));
    d.divides(k[2], d.lit(*groups));
    d.divides(v[2], d.lit(*groups));
    d.equal(d.quotient(q[2], d.lit(*heads)), d.quotient(k[2], d.lit(*groups)));
    out[2] = d.mul(d.quotient(v[2], d.lit(*groups)), d.lit(*heads));
  }
  if (d.inputs() == 4) {
    const ExtentsOf<D>& mask = d.in(3);
    if (!d.require(mask.size() >= 2)) return;
    d.equal(mask[mask.size() - 2], scores[2]);
    d.equal(mask.back(), scores[3]);
    into(d, scores, mask);
  }
  d.out(std::move(out));
}

// x[T,B,I], w[D,G*H,I], r[D,G*H,H], [bias[D,2*G*H], [h[D,B,H], [c[D,B,H]]]] -> y[T,D,B,H], h[D,B,H], [c[D,B,H]] for D
// directions and G gates; c of four gates alone.
template <class D>
void recurrent(D& d) {
  const ExtentsOf<D>&x = d.in(0), &w = d.in(1), &r = d.in(2);
  const auto gates = d.constant(d.item(Attr::gates)), reverse = d.constant(d.item(Attr::reverse));
  if (!d.require_known(gates) || !d.require_known(reverse)) return;
  if (!d.require(x.size() == 3 && w.size() == 3 && r.size() == 3 && *gates > 0)) return;
  const auto directions = d.constant(w[0]);
  if (!d.require_known(directions) || !d.require(*directions == 1 || (*directions == 2 && *reverse == 0))) return;
  d.exists(x[0]);
  d.exists(r[2]);
  d.equal(r[0], w[0]);
  d.equal(w[2], x[2]);
  d.equal(w[1], d.mul(d.lit(*gates), r[2]));
  d.equal(r[1], w[1]);
  const ExtentsOf<D> state{w[0], x[1], r[2]};
  if (d.inputs() > 3) same(d, d.in(3), {w[0], d.mul(d.lit(2), w[1])});
  for (size_t k = 4; k < d.inputs(); ++k) same(d, d.in(k), state);
  d.out({x[0], w[0], x[1], r[2]});
  d.out(state);
  if (*gates == 4) d.out(state);
}

}  // namespace rlgo::ops::shape_of

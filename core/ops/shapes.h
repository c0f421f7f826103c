// The shape of each operator, stated once for every kind of extent. A domain D states what an extent is and what
// becomes of a demand: numbers must meet it (shapes.cc), functions of a model's open sizes record what is not certain
// (open_infer.cc), symbols of a rule assume it or must imply it (core/rulegen/prove/sym_infer.cc).
//
// D has
//   Extent, Extents            an extent, and a vector of them
//   kLeast                     what extents that an attribute names are at least
//   inputs(), in(k)            the operands' shapes
//   list(a), extents(a)        an attribute's items, as they are held and as Extents; item(a): of an attribute with one
//   constants(a), constant(x)  numbers behind a list (nothing: the answer is unknown) and behind an extent
//   axis()                     the attribute `axis`, checked against in(0); nothing: not known, or no axis of it
//   lit(n), add, sub, mul, quotient (rounded down), scaled(x, a)
//   require(bool)              a demand on ranks and numbers of items; returns it
//   equal(a, b)                demands it and returns the one of which more is known
//   exact(a, b)                a / b, which leaves no rest
//   at_least(a, n), at_most(a, b), divides(a, b): b divides a, into(whole, part), joint(members), any_at_least_zero
//   exists(a), positive(a)     demands on extents of operands and results that are 1 at least in each shape of a rule
//   window(x, begin, end, size, stride, dilation, ceil), no_window_of_padding(x, dilation, begin, end)
//   two_pixels(x)              a resized extent by pytorch_half_pixel
//   out(shape), ok()           an output's shape; whether nothing is known to fail
#pragma once

#include <utility>

#include "core/ops/moves.h"
#include "core/ops/shape_index.h"
#include "core/ops/shape_moves.h"
#include "core/ops/shape_reduce.h"
#include "core/ops/shape_sequence.h"
#include "core/ops/shape_windows.h"

namespace rlgo::ops::shape_of {

// One, two or three operands that broadcast.
template <class D>
void elementwise(D& d) {
  if (d.inputs() == 1) return d.out(d.in(0));
  if (d.inputs() == 2) return d.out(broadcast(d, {&d.in(0), &d.in(1)}));
  d.out(broadcast(d, {&d.in(0), &d.in(1), &d.in(2)}));
}

// The slopes broadcast to x, which keeps its shape.
template <class D>
void prelu(D& d) {
  into(d, d.in(0), d.in(1));
  d.out(d.in(0));
}

// That of the operand, which has the axis `axis`.
template <class D>
void along_axis(D& d) {
  if (d.axis()) d.out(d.in(0));
}

// Matrices.
template <class D>
void trilu(D& d) {
  if (d.require(d.in(0).size() >= 2)) d.out(d.in(0));
}

// a[..,M,K], b[..,K,N], [bias]: batch axes broadcast; the bias never enlarges the output.
template <class D>
void matmul(D& d) {
  const ExtentsOf<D>&a = d.in(0), &b = d.in(1);
  if (!d.require(a.size() >= 2 && b.size() >= 2)) return;
  d.equal(a.back(), b[b.size() - 2]);
  const ExtentsOf<D> over = part<D>(a, 0, a.size() - 2), of = part<D>(b, 0, b.size() - 2);
  ExtentsOf<D> out = broadcast(d, {&over, &of});
  out.push_back(a[a.size() - 2]);
  out.push_back(b.back());
  if (d.inputs() == 3) into(d, out, d.in(2));
  d.out(std::move(out));
}

}  // namespace rlgo::ops::shape_of

namespace rlgo::ops {

// Outputs and demands of `op`, made in the domain.
template <class D>
void state_shapes(D& d, Op op) {
  if (is_reduction(op)) return shape_of::reduce(d, op == Op::reduce_max || op == Op::reduce_min);
  switch (op) {
#define RLGO_SHAPES(name, statement) \
  case Op::name:                     \
    return shape_of::statement;
#include "core/ops/shape_list.def"
#undef RLGO_SHAPES
    default:
      return shape_of::elementwise(d);
  }
}

}  // namespace rlgo::ops

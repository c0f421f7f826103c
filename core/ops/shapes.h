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
  namespace of = shape_of;
  if (is_reduction(op)) return of::reduce(d, op == Op::reduce_max || op == Op::reduce_min);
  switch (op) {
    case Op::conv2d:
      return of::conv2d(d);
    case Op::conv_transpose:
      return of::conv_transpose(d);
    case Op::max_pool:
      return of::pool(d, true);
    case Op::avg_pool:
      return of::pool(d, false);
    case Op::global_avg_pool:
      return of::global_pool(d);
    case Op::matmul:
      return of::matmul(d);
    case Op::concat:
      return of::concat(d);
    case Op::split:
      return of::split(d);
    case Op::transpose:
      return of::transpose(d);
    case Op::reshape:
      return of::reshape(d);
    case Op::slice:
      return of::slice(d);
    case Op::pad:
      return of::pad(d);
    case Op::gather:
      return of::gather(d);
    case Op::gather_elements:
      return of::gather_elements(d);
    case Op::gather_nd:
      return of::gather_nd(d);
    case Op::scatter_elements:
      return of::scatter_elements(d);
    case Op::scatter_nd:
      return of::scatter_nd(d);
    case Op::one_hot:
      return of::one_hot(d);
    case Op::depth_to_space:
    case Op::space_to_depth:
      return of::depth_and_space(d, op == Op::depth_to_space);
    case Op::trilu:
      if (d.require(d.in(0).size() >= 2)) d.out(d.in(0));
      return;
    case Op::expand:
      return of::expand(d);
    case Op::resize:
      return of::resize(d);
    case Op::arg_max:
    case Op::arg_min:
      return of::arg(d);
    case Op::softmax:
    case Op::log_softmax:
    case Op::lp_norm:
    case Op::cumsum:
      if (d.axis()) d.out(d.in(0));
      return;
    case Op::instance_norm:
      return of::instance_norm(d);
    case Op::group_norm:
      return of::group_norm(d);
    case Op::rms_norm:
    case Op::layer_norm:
      return of::layer_norm(d);
    case Op::batch_norm:
      return of::batch_norm(d);
    case Op::fill:
    case Op::literal:
      return of::fill(d, op == Op::literal);
    case Op::prelu:
      return of::prelu(d);
    case Op::attention:
      return of::attention(d);
    case Op::recurrent:
      return of::recurrent(d);
    default:
      return of::elementwise(d);
  }
}

}  // namespace rlgo::ops

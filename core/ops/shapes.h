// The shape of each operator, stated once for every kind of extent. A domain D says what an extent is and what becomes
// of a demand: numbers must meet it (shapes.cc), functions of a model's open sizes record what is not certain
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
//   at_least(a, n), at_most(a, b), divides(a, b): b divides a, into(whole, part), joint(members), any_at_least_zero
//   exists(a), positive(a)     demands on extents of operands and results that are 1 at least in each shape of a rule
//   window(x, begin, end, size, stride, dilation, ceil), no_window_of_padding(x, dilation, begin, end)
//   two_pixels(x)              a resized extent by pytorch_half_pixel
//   out(shape), ok()           an output's shape; whether nothing is known to fail
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "core/ops/op.h"

namespace rlgo::ops {

template <class D>
class ShapeStatement {  // of one operator
 public:
  explicit ShapeStatement(D& domain) : d_(domain) {}

  void run(Op op) {
    switch (op) {
      case Op::conv2d:
        return conv2d();
      case Op::conv_transpose:
        return conv_transpose();
      case Op::max_pool:
        return pool(true);
      case Op::avg_pool:
        return pool(false);
      case Op::global_avg_pool:
        return global_pool();
      case Op::matmul:
        return matmul();
      case Op::concat:
        return concat();
      case Op::split:
        return split();
      case Op::transpose:
        return transpose();
      case Op::reshape:
        return reshape();
      case Op::slice:
        return slice();
      case Op::pad:
        return pad();
      case Op::gather:
        return gather();
      case Op::expand:
        return expand();
      case Op::resize:
        return resize();
      case Op::reduce_mean:
      case Op::reduce_sum:
        return reduce(false);
      case Op::reduce_max:
        return reduce(true);
      case Op::softmax:
        if (d_.axis()) d_.out(d_.in(0));
        return;
      case Op::layer_norm:
        return layer_norm();
      case Op::batch_norm:
        return batch_norm();
      case Op::fill:
      case Op::literal:
        return fill(op == Op::literal);
      case Op::prelu:
        return prelu();
      default:
        return elementwise();
    }
  }

 private:
  using Extent = typename D::Extent;
  using Extents = typename D::Extents;

  static Extents part(const Extents& shape, size_t from, size_t to) {
    Extents out;
    for (size_t k = from; k < to; ++k) out.push_back(shape[k]);
    return out;
  }
  template <class List>
  bool each_at_least(const List& items, int64_t bound) {
    for (const auto& item : items) d_.at_least(item, bound);
    return d_.ok();
  }
  template <class List>
  bool items(const List& list, size_t count, int64_t bound) {
    return d_.require(list.size() == count) && each_at_least(list, bound);
  }
  void same(const Extents& a, const Extents& b) {
    if (!d_.require(a.size() == b.size())) return;
    for (size_t k = 0; k < a.size(); ++k) d_.equal(a[k], b[k]);
  }
  // `part` broadcasts to `whole`, aligned at the end, and does not enlarge it.
  void into(const Extents& whole, const Extents& part) {
    if (!d_.require(part.size() <= whole.size())) return;
    const size_t shift = whole.size() - part.size();
    for (size_t k = 0; k < part.size(); ++k) d_.into(whole[shift + k], part[k]);
  }
  Extents broadcast(std::initializer_list<const Extents*> shapes) {
    size_t rank = 0;
    for (const Extents* shape : shapes) rank = std::max<size_t>(rank, shape->size());
    Extents out;
    for (size_t k = 0; k < rank; ++k) {
      Extents members;
      for (const Extents* shape : shapes) {
        if (k + shape->size() >= rank) members.push_back((*shape)[k + shape->size() - rank]);
      }
      out.push_back(members.size() == 1 ? members[0] : d_.joint(members));
    }
    return out;
  }
  Extent elements(const Extents& shape) {
    Extent product = d_.lit(1);
    for (const Extent& extent : shape) product = d_.mul(product, extent);
    return product;
  }

  void elementwise() {
    if (d_.inputs() == 1) return d_.out(d_.in(0));
    if (d_.inputs() == 2) return d_.out(broadcast({&d_.in(0), &d_.in(1)}));
    d_.out(broadcast({&d_.in(0), &d_.in(1), &d_.in(2)}));
  }
  void prelu() {
    into(d_.in(0), d_.in(1));
    d_.out(d_.in(0));
  }

  void conv2d() {
    const Extents &x = d_.in(0), &w = d_.in(1);
    if (!d_.require(x.size() == 4 && w.size() == 4)) return;
    const auto &strides = d_.list(Attr::strides), &dilations = d_.list(Attr::dilations), &pads = d_.list(Attr::pads);
    const Extent group = d_.item(Attr::group);
    if (!items(strides, 2, 1) || !items(dilations, 2, 1) || !items(pads, 4, 0)) return;
    d_.at_least(group, 1);
    if (!d_.ok()) return;
    d_.equal(x[1], d_.mul(group, w[1]));
    d_.divides(w[0], group);
    if (d_.inputs() == 3) same(d_.in(2), {w[0]});
    Extents out{x[0], w[0]};
    for (size_t k = 0; k < 2; ++k)
      out.push_back(d_.window(x[2 + k], pads[k], pads[k + 2], w[2 + k], strides[k], dilations[k], d_.lit(0)));
    d_.out(std::move(out));
  }

  void conv_transpose() {
    const Extents &x = d_.in(0), &w = d_.in(1);
    if (!d_.require(x.size() == 4 && w.size() == 4)) return;
    const auto &strides = d_.list(Attr::strides), &dilations = d_.list(Attr::dilations), &pads = d_.list(Attr::pads),
               &more = d_.list(Attr::output_padding);
    const Extent group = d_.item(Attr::group);
    if (!items(strides, 2, 1) || !items(dilations, 2, 1) || !items(pads, 4, 0) || !items(more, 2, 0)) return;
    d_.at_least(group, 1);
    if (!d_.ok()) return;
    d_.equal(x[1], w[0]);
    d_.exists(w[0]);
    d_.divides(w[0], group);
    Extents out{x[0], d_.mul(w[1], group)};
    if (d_.inputs() == 3) same(d_.in(2), {out[1]});
    for (size_t k = 0; k < 2; ++k) {
      const Extent one_more = d_.add(more[k], d_.lit(1));  // below the stride or below the dilation
      d_.any_at_least_zero({d_.sub(strides[k], one_more), d_.sub(dilations[k], one_more)});
      d_.exists(x[2 + k]);
      d_.exists(w[2 + k]);
      const Extent steps = d_.mul(strides[k], d_.sub(x[2 + k], d_.lit(1)));
      const Extent span = d_.add(d_.mul(dilations[k], d_.sub(w[2 + k], d_.lit(1))), d_.lit(1));
      out.push_back(d_.positive(d_.sub(d_.add(d_.add(steps, span), more[k]), d_.add(pads[k], pads[2 + k]))));
    }
    d_.out(std::move(out));
  }

  void pool(bool dilated) {
    const Extents& x = d_.in(0);
    if (!d_.require(x.size() == 4)) return;
    const auto &kernel = d_.list(Attr::kernel), &strides = d_.list(Attr::strides), &pads = d_.list(Attr::pads);
    if (!items(kernel, 2, 1) || !items(strides, 2, 1) || !items(pads, 4, 0)) return;
    const Extents dilations = dilated ? d_.extents(Attr::dilations) : Extents{d_.lit(1), d_.lit(1)};
    if (!items(dilations, 2, 1)) return;
    Extents out{x[0], x[1]};
    for (size_t k = 0; k < 2; ++k) {
      // As ONNX Runtime: a window always covers more than padding.
      d_.at_least(d_.sub(kernel[k], pads[k]), 1);
      d_.at_least(d_.sub(kernel[k], pads[k + 2]), 1);
      if (dilated) d_.no_window_of_padding(x[2 + k], dilations[k], pads[k], pads[k + 2]);
      out.push_back(
          d_.window(x[2 + k], pads[k], pads[k + 2], kernel[k], strides[k], dilations[k], d_.item(Attr::ceil_mode)));
    }
    d_.out(std::move(out));
  }

  void global_pool() {
    const Extents& x = d_.in(0);
    if (d_.require(x.size() == 4)) d_.out({x[0], x[1], d_.lit(1), d_.lit(1)});
  }

  void resize() {
    const Extents& x = d_.in(0);
    if (!d_.require(x.size() == 4)) return;
    Extents out{x[0], x[1]};
    size_t axis = 2;
    for (const Attr scale : {Attr::scale_h, Attr::scale_w}) {
      d_.exists(x[axis]);
      const auto extent = d_.scaled(x[axis++], scale);
      if (!extent) return;
      out.push_back(d_.positive(*extent));
      d_.two_pixels(out[axis - 1]);
    }
    d_.out(std::move(out));
  }

  void matmul() {
    const Extents &a = d_.in(0), &b = d_.in(1);
    if (!d_.require(a.size() >= 2 && b.size() >= 2)) return;
    d_.equal(a.back(), b[b.size() - 2]);
    const Extents over = part(a, 0, a.size() - 2), of = part(b, 0, b.size() - 2);
    Extents out = broadcast({&over, &of});
    out.push_back(a[a.size() - 2]);
    out.push_back(b.back());
    if (d_.inputs() == 3) into(out, d_.in(2));
    d_.out(std::move(out));
  }

  void concat() {
    const auto axis = d_.axis();
    if (!axis) return;
    Extents out = d_.in(0);
    for (size_t i = 1; i < d_.inputs(); ++i) {
      const Extents& shape = d_.in(i);
      if (!d_.require(shape.size() == out.size())) return;
      for (size_t k = 0; k < shape.size(); ++k)
        out[k] = k == *axis ? d_.add(out[k], shape[k]) : d_.equal(out[k], shape[k]);
    }
    d_.out(std::move(out));
  }

  void split() {
    const auto axis = d_.axis();
    const auto& sizes = d_.list(Attr::sizes);
    if (!axis || !d_.require(sizes.size() > 0)) return;
    Extent total = d_.lit(0);
    for (const auto& size : sizes) {
      total = d_.add(total, size);
      Extents piece = d_.in(0);
      piece[*axis] = size;
      d_.out(std::move(piece));
    }
    d_.equal(d_.in(0)[*axis], total);
    each_at_least(sizes, D::kLeast);
  }

  void transpose() {
    const auto perm = d_.constants(Attr::perm);
    const Extents& x = d_.in(0);
    if (!perm || !d_.require(perm->size() == x.size())) return;
    Extents out;
    for (size_t k = 0; k < perm->size(); ++k) {
      const int64_t from = (*perm)[k];
      const auto here = perm->begin() + static_cast<int64_t>(k);
      if (!d_.require(from >= 0 && from < static_cast<int64_t>(x.size()) &&
                      std::find(perm->begin(), here, from) == here))
        return;
      out.push_back(x[static_cast<size_t>(from)]);
    }
    d_.out(std::move(out));
  }

  // Files say both an extent of 0 and one that is copied with a 0, so not both at once.
  void reshape() {
    const Extents& x = d_.in(0);
    Extents shape = d_.extents(Attr::shape);
    size_t rest = shape.size();
    bool copies = false, empty = false;
    for (size_t k = 0; k < shape.size(); ++k) {
      const auto number = d_.constant(shape[k]);
      empty = empty || number == 0;
      if (number == kSameExtent) {
        if (!d_.require(k < x.size())) return;
        shape[k] = x[k];
        copies = true;
      } else if (number == kRestExtent) {
        if (!d_.require(rest == shape.size())) return;
        rest = k;
        shape[k] = d_.lit(1);
      }
    }
    if (!d_.require(!copies || !empty)) return;
    if (rest < shape.size()) {
      const Extent others = elements(shape);
      d_.at_least(others, 1);
      if (!d_.ok()) return;
      shape[rest] = d_.quotient(elements(x), others);
    }
    each_at_least(shape, D::kLeast);
    d_.equal(elements(shape), elements(x));
    d_.out(std::move(shape));
  }

  // Canonical only: axes increase, 0 <= start <= end <= extent, step >= 1.
  void slice() {
    const auto axes = d_.constants(Attr::axes);
    const auto &starts = d_.list(Attr::starts), &ends = d_.list(Attr::ends), &steps = d_.list(Attr::steps);
    const size_t count = axes ? axes->size() : 0;
    if (!axes || !d_.require(starts.size() == count && ends.size() == count) || !items(steps, count, 1)) return;
    Extents out = d_.in(0);
    int64_t before = -1;
    for (size_t k = 0; k < count; ++k) {
      const int64_t at = (*axes)[k];
      if (!d_.require(at > before && at < static_cast<int64_t>(out.size()))) return;
      before = at;
      Extent& extent = out[static_cast<size_t>(at)];
      const Extent length = d_.sub(ends[k], starts[k]);
      d_.at_least(starts[k], 0);
      d_.at_least(length, D::kLeast);
      d_.at_most(ends[k], extent);
      extent = d_.add(d_.quotient(d_.sub(length, d_.lit(1)), steps[k]), d_.lit(1));
    }
    d_.out(std::move(out));
  }

  void pad() {
    const auto& pads = d_.list(Attr::pads);
    Extents out = d_.in(0);
    const size_t rank = out.size();
    if (!items(pads, 2 * rank, 0)) return;
    for (size_t k = 0; k < rank; ++k) out[k] = d_.add(d_.add(out[k], pads[k]), pads[rank + k]);
    d_.out(std::move(out));
  }

  void gather() {
    const auto axis = d_.axis();
    if (!axis) return;
    const Extents& x = d_.in(0);
    Extents out = part(x, 0, *axis);
    for (const Extent& extent : d_.in(1)) out.push_back(extent);
    for (size_t k = *axis + 1; k < x.size(); ++k) out.push_back(x[k]);
    d_.out(std::move(out));
  }

  void expand() {
    Extents wanted = d_.extents(Attr::shape);
    if (!each_at_least(wanted, D::kLeast)) return;
    into(wanted, d_.in(0));
    d_.out(std::move(wanted));
  }

  // The maximum of no element has no value.
  void reduce(bool maximum) {
    const auto axes = d_.constants(Attr::axes);
    const auto keep = d_.constant(d_.item(Attr::keepdims));
    const Extents& x = d_.in(0);
    if (!axes || !d_.require_known(keep)) return;
    const bool increasing = std::ranges::adjacent_find(*axes, std::greater_equal<>()) == axes->end();
    if (!d_.require(!axes->empty() && increasing && axes->front() >= 0 &&
                    axes->back() < static_cast<int64_t>(x.size()) && (keep == 0 || keep == 1)))
      return;
    Extents out;
    for (size_t k = 0; k < x.size(); ++k) {
      const bool reduced = std::ranges::find(*axes, static_cast<int64_t>(k)) != axes->end();
      if (reduced && maximum) d_.exists(x[k]);
      if (!reduced) out.push_back(x[k]);
      if (reduced && keep == 1) out.push_back(d_.lit(1));
    }
    d_.out(std::move(out));
  }

  // Scale and bias have exactly the shape of the axes that are normalised.
  void layer_norm() {
    const auto axis = d_.axis();
    if (!axis) return;
    const Extents& x = d_.in(0);
    for (size_t k = 1; k < d_.inputs(); ++k) same(d_.in(k), part(x, *axis, x.size()));
    d_.out(x);
  }

  void batch_norm() {
    const Extents& x = d_.in(0);
    if (!d_.require(x.size() >= 2)) return;
    for (size_t k = 1; k < d_.inputs(); ++k) same(d_.in(k), {x[1]});
    d_.out(x);
  }

  void fill(bool literal) {
    const Extents shape = d_.extents(Attr::shape);
    if (!each_at_least(shape, D::kLeast)) return;
    if (literal) d_.equal(elements(shape), d_.lit(static_cast<int64_t>(d_.list(Attr::values).size())));
    d_.out(shape);
  }

  D& d_;
};

}  // namespace rlgo::ops

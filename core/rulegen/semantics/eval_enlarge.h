// Meaning of conv_transpose and resize.
#pragma once

#include "core/rulegen/semantics/eval_elementwise.h"

namespace rlgo::rulegen {

// y[n,o,q,r] = b[o] + sum over c,i,j,k,l with q = i*s+k*d-p, r = j*s+l*d-p of x[n, c, i, j] * w[c,o,k,l], c in o's
// group.
template <class R>
bool eval_conv_transpose(Eval<R>& e) {
  using ops::Attr;
  auto& y = e.make();
  const auto &xs = e.shape(0), &ws = e.shape(1), &ys = y.type.shape;
  const auto &stride = e.attrs.ints(Attr::strides), &pad = e.attrs.ints(Attr::pads),
             &dilation = e.attrs.ints(Attr::dilations);
  const int64_t channels = ws[0] / e.attrs.i(Attr::group);
  // The pixel that tap k writes to `at` from; -1: none.
  const auto source = [&](size_t d, int64_t at, int64_t k) {
    const int64_t from = at + pad[d] - k * dilation[d];
    return from >= 0 && from % stride[d] == 0 && from / stride[d] < xs[2 + d] ? from / stride[d] : -1;
  };
  const auto element = [&](int64_t n, int64_t o, int64_t q, int64_t r) {
    typename R::Sum sum(e.ring);
    if (e.in.size() == 3) sum.add(e.in[2]->data[static_cast<size_t>(o)]);
    for (int64_t c = o / ws[1] * channels; c < (o / ws[1] + 1) * channels; ++c) {
      for (int64_t k = 0; k < ws[2]; ++k) {
        const int64_t i = source(0, q, k);
        if (i < 0) continue;
        const auto* x = e.in[0]->data.data() + ((n * xs[1] + c) * xs[2] + i) * xs[3];
        const auto* w = e.in[1]->data.data() + ((c * ws[1] + o % ws[1]) * ws[2] + k) * ws[3];
        for (int64_t l = 0; l < ws[3]; ++l) {
          if (const int64_t j = source(1, r, l); j >= 0) sum.add_product(x[j], w[l]);
        }
      }
    }
    return sum.finish();
  };
  size_t at = 0;
  for (int64_t n = 0; n < ys[0]; ++n) {
    for (int64_t o = 0; o < ys[1]; ++o) {
      for (int64_t q = 0; q < ys[2]; ++q) {
        for (int64_t r = 0; r < ys[3]; ++r) y.data[at++] = element(n, o, q, r);
      }
    }
  }
  return true;
}

// To the nearest pixel at whole scales, which both ways of rounding that ops::infer lets through agree on. Others have
// no meaning here.
template <class R>
bool eval_resize(Eval<R>& e) {
  using ops::Attr;
  const double h = e.attrs.f(Attr::scale_h), w = e.attrs.f(Attr::scale_w);
  if (e.attrs.word(Attr::mode) != "nearest" || h != std::floor(h) || w != std::floor(w)) return false;
  auto& y = e.make();
  const auto &xs = e.shape(0), &ys = y.type.shape;
  const auto down = static_cast<int64_t>(h), across = static_cast<int64_t>(w);
  size_t at = 0;
  for (int64_t plane = 0; plane < ys[0] * ys[1]; ++plane) {
    for (int64_t i = 0; i < ys[2]; ++i) {
      const auto* x = e.in[0]->data.data() + (plane * xs[2] + i / down) * xs[3];
      for (int64_t j = 0; j < ys[3]; ++j) y.data[at++] = x[j / across];
    }
  }
  return true;
}

}  // namespace rlgo::rulegen

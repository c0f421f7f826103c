// Meaning of conv_transpose and resize.
#pragma once

#include "core/rulegen/semantics/eval_elementwise.h"
#include "core/rulegen/semantics/eval_window_axes.h"

namespace rlgo::rulegen {

// y[n,o,q] = b[o] + sum over c,i,k with q = i*s+k*d-p of x[n,c,i] * w[c,o,k], c in o's group; i, k and q are places of
// one to three axes.
template <class R>
bool eval_conv_transpose(Eval<R>& e) {
  using ops::Attr;
  auto& y = e.make();
  const auto &xs = e.shape(0), &ws = e.shape(1), &ys = y.type.shape;
  const WindowAxes axes(e.attrs, xs, std::span(ws.data() + 2, ws.size() - 2), ys);
  const int64_t channels = ws[0] / e.attrs.i(Attr::group), pixels = axes.count(axes.x), taps = axes.count(axes.window);
  size_t at = 0;
  for (int64_t n = 0; n < ys[0]; ++n) {
    for (int64_t o = 0; o < ys[1]; ++o) {
      const int64_t first = o / ws[1] * channels;
      const auto* x = e.in[0]->data.data() + (n * xs[1] + first) * pixels;
      const auto* w = e.in[1]->data.data() + (first * ws[1] + o % ws[1]) * taps;
      axes.each(axes.y, [&](const auto& q) {
        typename R::Sum sum(e.ring);
        if (e.in.size() == 3) sum.add(e.in[2]->data[static_cast<size_t>(o)]);
        int64_t tap = 0;
        axes.each(axes.window, [&](const auto& k) {
          const int64_t from = axes.source(q, k), own = tap++;
          for (int64_t c = 0; from >= 0 && c < channels; ++c)
            sum.add_product(x[c * pixels + from], w[c * ws[1] * taps + own]);
        });
        y.data[at++] = sum.finish();
      });
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

// Meaning of the convolutions, matmul and the pools.
#pragma once

#include "core/ops/windows.h"
#include "core/rulegen/semantics/eval_elementwise.h"
#include "core/rulegen/semantics/eval_window_axes.h"

namespace rlgo::rulegen {

// conv2d: y[n,o,i] = act(b[o] + sum over c,k of x[n, g*Cg+c, i*s+k*d-p] * w[o,c,k]), x zero outside.
// conv_transpose: y[n,o,q] = b[o] + sum over c,i,k with q = i*s+k*d-p of x[n,c,i] * w[c,o,k], c in o's group.
// i, k and q are places of one to three axes.
template <class R>
bool eval_convolution(Eval<R>& e, bool transposed) {
  using ops::Attr;
  auto& y = e.make();
  const auto &xs = e.shape(0), &ws = e.shape(1), &ys = y.type.shape;
  const WindowAxes axes(e.attrs, xs, std::span(ws.data() + 2, ws.size() - 2), ys);
  const std::string act = transposed ? "none" : e.attrs.word(Attr::act);
  const int64_t of_group = ws[0] / e.attrs.i(Attr::group), pixels = axes.count(axes.x), taps = axes.count(axes.window);
  const int64_t in = transposed ? of_group : ws[1], out = transposed ? ws[1] : of_group;  // channels of a group
  const int64_t next = transposed ? ws[1] * taps : taps;  // from one input channel's weights to the next one's
  size_t at = 0;
  for (int64_t n = 0; n < ys[0]; ++n) {
    for (int64_t o = 0; o < ys[1]; ++o) {
      const int64_t first = o / out * in;
      const auto* x = e.in[0]->data.data() + (n * xs[1] + first) * pixels;
      const auto* w = e.in[1]->data.data() + (transposed ? first * ws[1] + o % out : o * in) * taps;
      axes.each(axes.y, [&](const auto& i) {
        typename R::Sum sum(e.ring);
        if (e.in.size() == 3) sum.add(e.in[2]->data[static_cast<size_t>(o)]);
        int64_t tap = 0;
        axes.each(axes.window, [&](const auto& k) {
          const int64_t from = transposed ? axes.source(i, k) : axes.element(i, k), own = tap++;
          for (int64_t c = 0; from >= 0 && c < in; ++c) sum.add_product(x[c * pixels + from], w[c * next + own]);
        });
        y.data[at++] = activate(e.ring, sum.finish(), act);
      });
    }
  }
  return true;
}

template <class R>  // batches broadcast
bool eval_matmul(Eval<R>& e) {
  auto& y = e.make();
  const auto &as = e.shape(0), &bs = e.shape(1), &ys = y.type.shape;
  const auto& act = e.attrs.word(ops::Attr::act);
  const size_t r = ys.size();
  const int64_t inner = as.back(), rows = ys[r - 2], columns = ys[r - 1];
  const ops::Shape batch(std::span(ys.data(), r - 2));
  const auto matrices = [&](const ops::Shape& shape) {
    const ops::Shape lead(std::span(shape.data(), shape.size() - 2));
    std::vector<size_t> index;
    walk(batch, broadcast_steps(lead, batch), [&](size_t, size_t from) { index.push_back(from); });
    return index;
  };
  const auto a_of = matrices(as), b_of = matrices(bs);
  std::vector<size_t> bias;
  if (e.in.size() == 3) {
    bias.resize(y.data.size());
    walk(ys, broadcast_steps(e.shape(2), ys), [&](size_t k, size_t from) { bias[k] = from; });
  }
  size_t at = 0;
  for (size_t m = 0; m < a_of.size(); ++m) {
    const auto* a = e.in[0]->data.data() + static_cast<int64_t>(a_of[m]) * rows * inner;
    const auto* b = e.in[1]->data.data() + static_cast<int64_t>(b_of[m]) * inner * columns;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j, ++at) {
        typename R::Sum sum(e.ring);
        if (!bias.empty()) sum.add(e.in[2]->data[bias[at]]);
        for (int64_t k = 0; k < inner; ++k) sum.add_product(a[i * inner + k], b[k * columns + j]);
        y.data[at] = activate(e.ring, sum.finish(), act);
      }
    }
  }
  return true;
}

// Windows of max_pool and avg_pool. Maximum: padding is -inf. Average: count_include_pad = 0 divides by the elements of
// x under the window, 1 by those of x and its padding; what lies behind the padding (ceil_mode) never counts.
template <class R>
bool eval_pool(Eval<R>& e, bool maximum) {
  using ops::Attr;
  auto& y = e.make();
  const auto &xs = e.shape(0), &ys = y.type.shape;
  const WindowAxes axes(e.attrs, xs, e.attrs.ints(Attr::kernel), ys);
  const bool with_padding = !maximum && e.attrs.i(Attr::count_include_pad) == 1;
  std::vector<typename R::Element> seen;
  size_t at = 0;
  bool has_values = true;
  for (int64_t plane = 0; plane < ys[0] * ys[1]; ++plane) {
    const auto* x = e.in[0]->data.data() + plane * axes.count(axes.x);
    axes.each(axes.y, [&](const auto& i) {
      seen.clear();
      int64_t padded = 0;
      axes.each(axes.window, [&](const auto& k) {
        const int64_t from = axes.element(i, k);
        if (from >= 0) {
          seen.push_back(x[from]);
        } else if (!axes.is_behind(i, k)) {
          ++padded;
        }
      });
      const int64_t count = static_cast<int64_t>(seen.size()) + (with_padding ? padded : 0);
      has_values = has_values && count > 0 && (!maximum || !seen.empty());  // -inf is no number
      if (!has_values) return;
      if (maximum) {
        y.data[at++] = e.ring.maximum(seen);
        return;
      }
      typename R::Sum sum(e.ring);
      for (const auto& element : seen) sum.add(element);
      y.data[at++] = e.ring.mul(sum.finish(), e.ring.ratio(1, count));
    });
  }
  return has_values;
}

template <class R>  // mean over all but the first two axes
bool eval_global_avg_pool(Eval<R>& e) {
  auto& y = e.make();
  const int64_t area = ops::window_elements(e.shape(0));
  if (area == 0) return false;
  for (size_t plane = 0; plane < y.data.size(); ++plane) {
    typename R::Sum sum(e.ring);
    for (int64_t k = 0; k < area; ++k)
      sum.add(e.in[0]->data[plane * static_cast<size_t>(area) + static_cast<size_t>(k)]);
    y.data[plane] = e.ring.mul(sum.finish(), e.ring.ratio(1, area));
  }
  return true;
}

}  // namespace rlgo::rulegen

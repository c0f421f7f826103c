// Meaning of conv2d, matmul and the pools.
#pragma once

#include "core/rulegen/semantics/eval_elementwise.h"

namespace rlgo::rulegen {

// y[n,o,i,j] = act(b[o] + sum over c,k,l of x[n, g*Cg+c, i*s+k*d-p, j*s+l*d-p] * w[o,c,k,l]), x zero outside.
template <class R>
bool eval_conv2d(Eval<R>& e) {
  using ops::Attr;
  auto& y = e.make();
  const auto &xs = e.shape(0), &ws = e.shape(1), &ys = y.type.shape;
  const auto &stride = e.attrs.ints(Attr::strides), &pad = e.attrs.ints(Attr::pads),
             &dilation = e.attrs.ints(Attr::dilations);
  const auto& act = e.attrs.word(Attr::act);
  const int64_t outputs_per_group = ws[0] / e.attrs.i(Attr::group);
  size_t at = 0;
  for (int64_t n = 0; n < ys[0]; ++n) {
    for (int64_t o = 0; o < ys[1]; ++o) {
      const int64_t first_channel = n * xs[1] + o / outputs_per_group * ws[1];
      for (int64_t i = 0; i < ys[2]; ++i) {
        for (int64_t j = 0; j < ys[3]; ++j) {
          typename R::Sum sum(e.ring);
          if (e.in.size() == 3) sum.add(e.in[2]->data[static_cast<size_t>(o)]);
          for (int64_t c = 0; c < ws[1]; ++c) {
            for (int64_t k = 0; k < ws[2]; ++k) {
              const int64_t row = i * stride[0] + k * dilation[0] - pad[0];
              if (row < 0 || row >= xs[2]) continue;
              const auto* x = e.in[0]->data.data() + ((first_channel + c) * xs[2] + row) * xs[3];
              const auto* w = e.in[1]->data.data() + ((o * ws[1] + c) * ws[2] + k) * ws[3];
              for (int64_t l = 0; l < ws[3]; ++l) {
                const int64_t column = j * stride[1] + l * dilation[1] - pad[1];
                if (column >= 0 && column < xs[3]) sum.add_product(x[column], w[l]);
              }
            }
          }
          y.data[at++] = activate(e.ring, sum.finish(), act);
        }
      }
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
  const auto &kernel = e.attrs.ints(Attr::kernel), &stride = e.attrs.ints(Attr::strides),
             &pad = e.attrs.ints(Attr::pads);
  const ops::Ints dilation = maximum ? e.attrs.ints(Attr::dilations) : ops::Ints{1, 1};
  const bool with_padding = !maximum && e.attrs.i(Attr::count_include_pad) == 1;
  std::vector<typename R::Element> seen;
  size_t at = 0;
  for (int64_t plane = 0; plane < ys[0] * ys[1]; ++plane) {
    const auto* x = e.in[0]->data.data() + plane * xs[2] * xs[3];
    for (int64_t i = 0; i < ys[2]; ++i) {
      for (int64_t j = 0; j < ys[3]; ++j) {
        seen.clear();
        int64_t padded = 0;
        for (int64_t k = 0; k < kernel[0]; ++k) {
          for (int64_t l = 0; l < kernel[1]; ++l) {
            const int64_t row = i * stride[0] + k * dilation[0] - pad[0];
            const int64_t column = j * stride[1] + l * dilation[1] - pad[1];
            if (row >= 0 && row < xs[2] && column >= 0 && column < xs[3]) {
              seen.push_back(x[row * xs[3] + column]);
            } else if (row < xs[2] + pad[2] && column < xs[3] + pad[3]) {
              ++padded;
            }
          }
        }
        if (seen.empty() && maximum) return false;  // -inf is no number
        if (maximum) {
          y.data[at++] = e.ring.maximum(seen);
          continue;
        }
        typename R::Sum sum(e.ring);
        for (const auto& element : seen) sum.add(element);
        const int64_t count = static_cast<int64_t>(seen.size()) + (with_padding ? padded : 0);
        if (count == 0) return false;
        y.data[at++] = e.ring.mul(sum.finish(), e.ring.ratio(1, count));
      }
    }
  }
  return true;
}

template <class R>  // mean over all but the first two axes
bool eval_global_avg_pool(Eval<R>& e) {
  auto& y = e.make();
  const int64_t area = e.shape(0)[2] * e.shape(0)[3];
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

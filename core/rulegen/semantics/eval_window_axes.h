// Windows over one to three spatial axes, as three: an axis that is not there has one element and a window of one.
#pragma once

#include <array>

#include "core/rulegen/semantics/eval_tensor.h"

namespace rlgo::rulegen {

struct WindowAxes {
  static constexpr size_t kAxes = 3;
  using Numbers = std::array<int64_t, kAxes>;

  // Extents of the input, the window and the output, and how the window moves.
  Numbers x, window, y, stride, dilation, begin, end;

  WindowAxes(const ops::Attrs& attrs, const ops::Shape& from, std::span<const int64_t> kernel, const ops::Shape& to) {
    using ops::Attr;
    const size_t axes = from.size() - 2;
    const auto &strides = attrs.ints(Attr::strides), &pads = attrs.ints(Attr::pads);
    const auto* dilations = attrs.find(Attr::dilations);
    for (Numbers* list : {&x, &window, &y, &stride, &dilation}) list->fill(1);
    begin.fill(0);
    end.fill(0);
    for (size_t k = 0; k < axes; ++k) {
      const size_t d = kAxes - axes + k;
      x[d] = from[2 + k];
      window[d] = kernel[k];
      y[d] = to[2 + k];
      stride[d] = strides[k];
      if (dilations) dilation[d] = std::get<ops::Ints>(*dilations)[k];
      begin[d] = pads[k];
      end[d] = pads[axes + k];
    }
  }

  static int64_t count(const Numbers& extents) { return extents[0] * extents[1] * extents[2]; }

  // visit(places) for each place of a grid, in row-major order.
  template <class F>
  static void each(const Numbers& extents, F&& visit) {
    Numbers at;
    for (at[0] = 0; at[0] < extents[0]; ++at[0]) {
      for (at[1] = 0; at[1] < extents[1]; ++at[1]) {
        for (at[2] = 0; at[2] < extents[2]; ++at[2]) visit(at);
      }
    }
  }

  // The input's place under tap `k` of the window at output `o`, along axis d; outside of the input: padding.
  int64_t place(size_t d, int64_t o, int64_t k) const { return o * stride[d] + k * dilation[d] - begin[d]; }

  // The input's element under that tap; -1: padding.
  int64_t element(const Numbers& o, const Numbers& k) const {
    int64_t at = 0;
    for (size_t d = 0; d < kAxes; ++d) {
      const int64_t p = place(d, o[d], k[d]);
      if (p < 0 || p >= x[d]) return -1;
      at = at * x[d] + p;
    }
    return at;
  }
  // The input's element that writes to output `o` through tap `k` of a transposed convolution; -1: none.
  int64_t source(const Numbers& o, const Numbers& k) const {
    int64_t at = 0;
    for (size_t d = 0; d < kAxes; ++d) {
      const int64_t from = o[d] + begin[d] - k[d] * dilation[d];
      if (from < 0 || from % stride[d] != 0 || from / stride[d] >= x[d]) return -1;
      at = at * x[d] + from / stride[d];
    }
    return at;
  }
  // Whether that tap lies behind the padding.
  bool is_behind(const Numbers& o, const Numbers& k) const {
    for (size_t d = 0; d < kAxes; ++d) {
      if (place(d, o[d], k[d]) >= x[d] + end[d]) return true;
    }
    return false;
  }
};

}  // namespace rlgo::rulegen

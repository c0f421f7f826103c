// Meaning of resize.
#pragma once

#include "core/rulegen/semantics/eval_elementwise.h"

namespace rlgo::rulegen {

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

// Shapes of conv2d, conv_transpose, the pools and resize.
#include "core/rulegen/prove/sym_inference.h"

namespace rlgo::rulegen::sym {

// Extent of a window that slides along axis d of an image.
Fit Inference::window(size_t d, Lin extent, Lin window, Lin dilation, Lin* result, Lin mode) {
  const auto &strides = list(Attr::strides), &pads = list(Attr::pads);
  const Lin span = lins().add(lins().mul(dilation, lins().sub(window, number(1))), number(1));
  const Lin room = norm(lins().sub(lins().add(lins().add(extent, pads[d]), pads[d + 2]), span));
  const Fit fit = w_.logic.at_least(room, 0);
  const auto rounding = lins().value(norm(mode));
  if (rounding && *rounding == 0) {
    *result = norm(lins().add(lins().quotient(room, norm(strides[d])), number(1)));
  } else {
    *result = lins().opaque(
        "window", {norm(extent), norm(pads[d]), norm(pads[d + 2]), norm(span), norm(strides[d]), norm(mode)}, 1);
  }
  return fit;
}

Fit Inference::conv2d() {
  if (in_[0].size() != 4 || in_[1].size() != 4) return Fit::misfit;
  const Shape &x = in_[0], &w = in_[1];
  const auto &strides = list(Attr::strides), &pads = list(Attr::pads), &dilations = list(Attr::dilations);
  if (strides.size() != 2 || pads.size() != 4 || dilations.size() != 2) return Fit::misfit;
  const Lin group = attr(Attr::group).id;
  Lin each = 0;
  Demands d;
  d << each_at_least(strides, 1) << each_at_least(dilations, 1) << each_at_least(pads, 0)
    << w_.logic.at_least(group, 1);
  d << w_.logic.equal(x[1], lins().mul(group, w[1])) << w_.logic.divides(w[0], group, &each);
  if (in_.size() == 3) d << all_equal(in_[2], {w[0]});
  Lin height = 0, width = 0;
  d << window(0, x[2], w[2], dilations[0], &height, number(0))
    << window(1, x[3], w[3], dilations[1], &width, number(0));
  one({x[0], w[0], height, width});
  return d.worst();
}

Fit Inference::conv_transpose() {
  if (in_[0].size() != 4 || in_[1].size() != 4) return Fit::misfit;
  const Shape &x = in_[0], &w = in_[1];
  const auto &strides = list(Attr::strides), &pads = list(Attr::pads), &dilations = list(Attr::dilations),
             &more = list(Attr::output_padding);
  if (strides.size() != 2 || pads.size() != 4 || dilations.size() != 2 || more.size() != 2) return Fit::misfit;
  const Lin group = attr(Attr::group).id;
  Lin each = 0;
  Demands d;
  d << each_at_least(strides, 1) << each_at_least(dilations, 1) << each_at_least(pads, 0) << each_at_least(more, 0)
    << w_.logic.at_least(group, 1) << w_.logic.equal(x[1], w[0]) << w_.logic.divides(x[1], group, &each);
  Shape out{x[0], lins().mul(w[1], group), 0, 0};
  if (in_.size() == 3) d << all_equal(in_[2], {out[1]});
  for (size_t k = 0; k < 2; ++k) {
    const Lin one_more = lins().add(more[k], number(1));  // below the stride or below the dilation
    d << w_.logic.any_at_least_zero({lins().sub(strides[k], one_more), lins().sub(dilations[k], one_more)});
    const Lin steps = lins().mul(strides[k], lins().sub(x[2 + k], number(1)));
    const Lin span = lins().add(lins().mul(dilations[k], lins().sub(w[2 + k], number(1))), number(1));
    out[2 + k] = lins().sub(lins().add(lins().add(steps, span), more[k]), lins().add(pads[k], pads[2 + k]));
    d << w_.logic.at_least(norm(out[2 + k]), 1);
  }
  one(std::move(out));
  return d.worst();
}

// By whole scales that are numbers.
Fit Inference::resize() {
  if (in_[0].size() != 4) return Fit::misfit;
  Shape out = in_[0];
  size_t at = 2;
  for (const Attr key : {Attr::scale_h, Attr::scale_w}) {
    const auto scale = whole(key);
    if (!scale) return Fit::unknown;
    out[at] = lins().mul(out[at], number(*scale));
    ++at;
  }
  return one(std::move(out));
}

Fit Inference::pool(bool dilated) {
  if (in_[0].size() != 4) return Fit::misfit;
  const Shape& x = in_[0];
  const auto &kernel = list(Attr::kernel), &strides = list(Attr::strides), &pads = list(Attr::pads);
  if (kernel.size() != 2 || strides.size() != 2 || pads.size() != 4) return Fit::misfit;
  if (dilated && list(Attr::dilations).size() != 2) return Fit::misfit;
  Demands d;
  d << each_at_least(kernel, 1) << each_at_least(strides, 1) << each_at_least(pads, 0);
  if (dilated) d << each_at_least(list(Attr::dilations), 1);
  Shape out{x[0], x[1], 0, 0};
  for (size_t k = 0; k < 2; ++k) {
    d << w_.logic.at_least(lins().sub(kernel[k], pads[k]), 1)
      << w_.logic.at_least(lins().sub(kernel[k], pads[k + 2]), 1);
    const Lin dilation = dilated ? list(Attr::dilations)[k] : number(1);
    // No window of padding alone: rules::in_scope() sees to it on both sides.
    if (dilated) {
      d << w_.logic.any_at_least_zero({lins().sub(number(1), dilation), lins().sub(x[2 + k], dilation),
                                       lins().sub(number(0), lins().add(pads[k], pads[k + 2]))});
    }
    d << window(k, x[2 + k], kernel[k], dilation, &out[2 + k], attr(Attr::ceil_mode).id);
  }
  one(std::move(out));
  return d.worst();
}

}  // namespace rlgo::rulegen::sym

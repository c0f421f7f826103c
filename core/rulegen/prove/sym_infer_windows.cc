// Shapes of conv2d, conv_transpose, the pools and resize.
#include "core/rulegen/prove/sym_inference.h"

namespace rlgo::rulegen::sym {

// Extent of a window that slides along axis d of an image.
Fit Inference::window(size_t d, ExtentId extent, ExtentId window, ExtentId dilation, ExtentId* result, ExtentId mode) {
  const auto &strides = list(Attr::strides), &pads = list(Attr::pads);
  const ExtentId span = extents().add(extents().mul(dilation, extents().sub(window, number(1))), number(1));
  const ExtentId room = norm(extents().sub(extents().add(extents().add(extent, pads[d]), pads[d + 2]), span));
  const Fit fit = w_.logic.at_least(room, 0);
  const auto rounding = extents().value(norm(mode));
  if (rounding && *rounding == 0) {
    *result = norm(extents().add(extents().quotient(room, norm(strides[d])), number(1)));
  } else {
    *result = extents().opaque(
        "window", {norm(extent), norm(pads[d]), norm(pads[d + 2]), norm(span), norm(strides[d]), norm(mode)}, 1);
  }
  return fit;
}

Fit Inference::conv2d() {
  if (in_[0].size() != 4 || in_[1].size() != 4) return Fit::misfit;
  const Shape &x = in_[0], &w = in_[1];
  const auto &strides = list(Attr::strides), &pads = list(Attr::pads), &dilations = list(Attr::dilations);
  if (strides.size() != 2 || pads.size() != 4 || dilations.size() != 2) return Fit::misfit;
  const ExtentId group = attr(Attr::group).id;
  ExtentId each = 0;
  Demands d;
  d << each_at_least(strides, 1) << each_at_least(dilations, 1) << each_at_least(pads, 0)
    << w_.logic.at_least(group, 1);
  d << w_.logic.equal(x[1], extents().mul(group, w[1])) << w_.logic.divides(w[0], group, &each);
  if (in_.size() == 3) d << all_equal(in_[2], {w[0]});
  ExtentId height = 0, width = 0;
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
  const ExtentId group = attr(Attr::group).id;
  ExtentId each = 0;
  Demands d;
  d << each_at_least(strides, 1) << each_at_least(dilations, 1) << each_at_least(pads, 0) << each_at_least(more, 0)
    << w_.logic.at_least(group, 1) << w_.logic.equal(x[1], w[0]) << w_.logic.divides(x[1], group, &each);
  Shape out{x[0], extents().mul(w[1], group), 0, 0};
  if (in_.size() == 3) d << all_equal(in_[2], {out[1]});
  for (size_t k = 0; k < 2; ++k) {
    const ExtentId one_more = extents().add(more[k], number(1));  // below the stride or below the dilation
    d << w_.logic.any_at_least_zero({extents().sub(strides[k], one_more), extents().sub(dilations[k], one_more)});
    const ExtentId steps = extents().mul(strides[k], extents().sub(x[2 + k], number(1)));
    const ExtentId span = extents().add(extents().mul(dilations[k], extents().sub(w[2 + k], number(1))), number(1));
    out[2 + k] = extents().sub(extents().add(extents().add(steps, span), more[k]), extents().add(pads[k], pads[2 + k]));
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
    out[at] = extents().mul(out[at], number(*scale));
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
    d << w_.logic.at_least(extents().sub(kernel[k], pads[k]), 1)
      << w_.logic.at_least(extents().sub(kernel[k], pads[k + 2]), 1);
    const ExtentId dilation = dilated ? list(Attr::dilations)[k] : number(1);
    // No window of padding alone: rules::in_scope() sees to it on both sides.
    if (dilated) {
      d << w_.logic.any_at_least_zero({extents().sub(number(1), dilation), extents().sub(x[2 + k], dilation),
                                       extents().sub(number(0), extents().add(pads[k], pads[k + 2]))});
    }
    d << window(k, x[2 + k], kernel[k], dilation, &out[2 + k], attr(Attr::ceil_mode).id);
  }
  one(std::move(out));
  return d.worst();
}

}  // namespace rlgo::rulegen::sym

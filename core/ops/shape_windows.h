// Shapes of operators with windows (shapes.h): over the spatial axes of x[N,C,...], one to three. How many there are
// follows from the rank.
#pragma once

#include <utility>

#include "core/ops/shape_parts.h"
#include "core/ops/windows.h"

namespace rlgo::ops::shape_of {

// How many spatial axes x has; 0: none of the numbers that windows are defined for, which is demanded.
template <class D>
size_t spatial_axes(D& d) {
  const size_t rank = d.in(0).size();
  return d.require(rank > 2 && rank <= 2 + kMostSpatialAxes) ? rank - 2 : 0;
}

// x[N,C,H,W], w[O,C/group,kh,kw], [bias[O]]
template <class D>
void conv2d(D& d) {
  const ExtentsOf<D>&x = d.in(0), &w = d.in(1);
  const size_t axes = spatial_axes(d);
  if (axes == 0 || !d.require(w.size() == x.size())) return;
  const auto &strides = d.list(Attr::strides), &dilations = d.list(Attr::dilations), &pads = d.list(Attr::pads);
  const ExtentOf<D> group = d.item(Attr::group);
  if (!items(d, strides, axes, 1) || !items(d, dilations, axes, 1) || !items(d, pads, 2 * axes, 0)) return;
  d.at_least(group, 1);
  if (!d.ok()) return;
  d.equal(x[1], d.mul(group, w[1]));
  d.divides(w[0], group);
  if (d.inputs() == 3) same(d, d.in(2), {w[0]});
  ExtentsOf<D> out{x[0], w[0]};
  for (size_t k = 0; k < axes; ++k)
    out.push_back(d.window(x[2 + k], pads[k], pads[k + axes], w[2 + k], strides[k], dilations[k], d.lit(0)));
  d.out(std::move(out));
}

// x[N,C,H,W], w[C,O/group,kh,kw], [bias[O]]
template <class D>
void conv_transpose(D& d) {
  const ExtentsOf<D>&x = d.in(0), &w = d.in(1);
  const size_t axes = spatial_axes(d);
  if (axes == 0 || !d.require(w.size() == x.size())) return;
  const auto &strides = d.list(Attr::strides), &dilations = d.list(Attr::dilations), &pads = d.list(Attr::pads),
             &more = d.list(Attr::output_padding);
  const ExtentOf<D> group = d.item(Attr::group);
  if (!items(d, strides, axes, 1) || !items(d, dilations, axes, 1) || !items(d, pads, 2 * axes, 0) ||
      !items(d, more, axes, 0))
    return;
  d.at_least(group, 1);
  if (!d.ok()) return;
  d.equal(x[1], w[0]);
  d.exists(w[0]);
  d.divides(w[0], group);
  ExtentsOf<D> out{x[0], d.mul(w[1], group)};
  if (d.inputs() == 3) same(d, d.in(2), {out[1]});
  for (size_t k = 0; k < axes; ++k) {
    const ExtentOf<D> one_more = d.add(more[k], d.lit(1));  // below the stride or below the dilation
    d.any_at_least_zero({d.sub(strides[k], one_more), d.sub(dilations[k], one_more)});
    d.exists(x[2 + k]);
    d.exists(w[2 + k]);
    const ExtentOf<D> steps = d.mul(strides[k], d.sub(x[2 + k], d.lit(1)));
    const ExtentOf<D> span = d.add(d.mul(dilations[k], d.sub(w[2 + k], d.lit(1))), d.lit(1));
    out.push_back(d.positive(d.sub(d.add(d.add(steps, span), more[k]), d.add(pads[k], pads[axes + k]))));
  }
  d.out(std::move(out));
}

// x[N,C,H,W]
template <class D>
void pool(D& d, bool dilated) {
  const ExtentsOf<D>& x = d.in(0);
  const size_t axes = spatial_axes(d);
  if (axes == 0) return;
  const auto &kernel = d.list(Attr::kernel), &strides = d.list(Attr::strides), &pads = d.list(Attr::pads);
  if (!items(d, kernel, axes, 1) || !items(d, strides, axes, 1) || !items(d, pads, 2 * axes, 0)) return;
  ExtentsOf<D> dilations;
  if (dilated) dilations = d.extents(Attr::dilations);
  while (!dilated && dilations.size() < axes) dilations.push_back(d.lit(1));
  if (!items(d, dilations, axes, 1)) return;
  ExtentsOf<D> out{x[0], x[1]};
  for (size_t k = 0; k < axes; ++k) {
    // As ONNX Runtime: a window always covers more than padding.
    d.at_least(d.sub(kernel[k], pads[k]), 1);
    d.at_least(d.sub(kernel[k], pads[k + axes]), 1);
    if (dilated) d.no_window_of_padding(x[2 + k], dilations[k], pads[k], pads[k + axes]);
    out.push_back(
        d.window(x[2 + k], pads[k], pads[k + axes], kernel[k], strides[k], dilations[k], d.item(Attr::ceil_mode)));
  }
  d.out(std::move(out));
}

// x[N,C,H,W] -> [N,C,1,1]
template <class D>
void global_pool(D& d) {
  ExtentsOf<D> out = d.in(0);
  const size_t axes = spatial_axes(d);
  for (size_t k = 0; k < axes; ++k) out[2 + k] = d.lit(1);
  if (axes > 0) d.out(std::move(out));
}

// x[N,C,H,W] by the scales of the last two axes.
template <class D>
void resize(D& d) {
  const ExtentsOf<D>& x = d.in(0);
  if (!d.require(x.size() == 4)) return;
  ExtentsOf<D> out{x[0], x[1]};
  size_t axis = 2;
  for (const Attr scale : {Attr::scale_h, Attr::scale_w}) {
    d.exists(x[axis]);
    const auto extent = d.scaled(x[axis++], scale);
    if (!extent) return;
    out.push_back(d.positive(*extent));
    d.two_pixels(out[axis - 1]);
  }
  d.out(std::move(out));
}

}  // namespace rlgo::ops::shape_of

// Pools, and images made larger.
#include <cmath>
#include <limits>

#include "core/evaluate/windows.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;

// The elements [low, high) of the window at output o of an axis that are inside the image.
std::pair<int64_t, int64_t> inside(const Windows& w, size_t axis, int64_t o) {
  const int64_t start = w.at(axis, o, 0), step = w.dilations[axis];
  return {start >= 0 ? 0 : (-start + step - 1) / step,
          start >= w.in[axis] ? 0 : std::min(w.kernel[axis], (w.in[axis] - start + step - 1) / step)};
}

// Folds f over each window's elements inside the image, in double precision; then finish(windows, output, value).
template <typename F, typename G>
Tensors pooled(const Call& call, double start, F f, G finish) {
  const Windows w = windows_of(call);
  Tensor out = call.output();
  const int64_t rows = w.out[0] * w.out[1], work = std::max<int64_t>(1, w.out[2] * w.window());
  const auto fold_row = [&]<typename T>(const T* plane, int64_t o0, int64_t o1, std::vector<double>& values, T* to) {
    std::ranges::fill(values, start);
    const auto [low0, high0] = inside(w, 0, o0);
    const auto [low1, high1] = inside(w, 1, o1);
    for (int64_t a = low0; a < high0; ++a) {
      for (int64_t b = low1; b < high1; ++b) {
        const T* row = plane + (w.at(0, o0, a) * w.in[1] + w.at(1, o1, b)) * w.in[2];
        for (int64_t k = 0; k < w.kernel[2]; ++k) {
          const int64_t first = w.at(2, 0, k), step = w.strides[2];
          const int64_t low = first >= 0 ? 0 : std::min(w.out[2], (-first + step - 1) / step);
          const int64_t high = first >= w.in[2] ? 0 : std::min(w.out[2], (w.in[2] - first + step - 1) / step);
          for (int64_t o = low; o < high; ++o) {
            double& value = values[static_cast<size_t>(o)];
            value = f(value, static_cast<double>(row[first + o * step]));
          }
        }
      }
    }
    for (int64_t o = 0; o < w.out[2]; ++o)
      to[o] = static_cast<T>(finish(w, {o0, o1, o}, values[static_cast<size_t>(o)]));
  };
  visit_float(out.dtype(), [&]<typename T>() {
    const T* x = call.in[0].data<T>();
    T* to = out.data<T>();
    parallel(call.run, w.planes * rows, std::max<int64_t>(1, kPiece / work), [&](int64_t begin, int64_t end) {
      std::vector<double> values(static_cast<size_t>(w.out[2]));
      for (int64_t r = begin; r < end; ++r)
        fold_row(x + r / rows * w.in_plane(), r % rows / w.out[1], r % w.out[1], values, to + r * w.out[2]);
    });
  });
  return {out};
}

// Where a linear resize reads: between `low` and `low + 1`, `part` of the way.
struct Between {
  int64_t low, high;
  double part;
};

std::vector<Between> between(const Call& call, int64_t in, int64_t out, double scale) {
  const auto& coordinates = call.attrs().word(Attr::coordinates);
  std::vector<Between> places;
  for (int64_t o = 0; o < out; ++o) {
    double at = (static_cast<double>(o) + 0.5) / scale - 0.5;
    if (coordinates == "align_corners")
      at = out == 1 ? 0 : static_cast<double>(o) * static_cast<double>(in - 1) / static_cast<double>(out - 1);
    at = std::max(at, 0.0);
    const int64_t low = std::min(static_cast<int64_t>(at), in - 1);
    places.push_back({low, std::min(low + 1, in - 1), std::min(at - static_cast<double>(low), 1.0)});
  }
  return places;
}

// The whole factor's inverse in float, as LibTorch and ONNX Runtime compute it.
std::vector<Between> nearest(int64_t in, int64_t out, double scale) {
  std::vector<Between> places;
  for (int64_t o = 0; o < out; ++o) {
    const auto at = static_cast<int64_t>(std::floor(static_cast<float>(o) * static_cast<float>(1.0 / scale)));
    places.push_back({std::min(at, in - 1), std::min(at, in - 1), 0});
  }
  return places;
}

}  // namespace

Tensors max_pool_kernel(const Call& call) {
  return pooled(
      call, -std::numeric_limits<double>::infinity(), [](double a, double b) { return a != a || a > b ? a : b; },
      [](const Windows&, const Three&, double value) { return value; });
}

Tensors avg_pool_kernel(const Call& call) {
  const bool count_pad = call.attrs().i(Attr::count_include_pad) == 1;
  return pooled(
      call, 0, [](double a, double b) { return a + b; },
      [=](const Windows& w, const Three& o, double sum) {
        int64_t count = 1;
        for (size_t d = 0; d < 3; ++d) {
          const int64_t start = w.at(d, o[d], 0), least = count_pad ? -w.begins[d] : 0,
                        most = w.in[d] + (count_pad ? w.ends[d] : 0);
          count *= std::min(start + w.kernel[d], most) - std::max(start, least);
        }
        return sum / static_cast<double>(count);
      });
}

Tensors resize_kernel(const Call& call) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  const int64_t h = x.shape()[2], w = x.shape()[3], oh = out.shape()[2], ow = out.shape()[3];
  const double sh = call.attrs().f(Attr::scale_h), sw = call.attrs().f(Attr::scale_w);
  const bool is_nearest = call.attrs().word(Attr::mode) == "nearest";
  const auto rows = is_nearest ? nearest(h, oh, sh) : between(call, h, oh, sh),
             columns = is_nearest ? nearest(w, ow, sw) : between(call, w, ow, sw);
  visit_float(x.dtype(), [&]<typename T>() {
    const T* image = x.data<T>();
    T* target = out.data<T>();
    const int64_t planes = out.shape()[0] * out.shape()[1];
    parallel(call.run, planes * oh, std::max<int64_t>(1, kPiece / 4 / ow), [&](int64_t begin, int64_t end) {
      T* to = target + begin * ow;
      for (int64_t line = begin; line < end; ++line) {
        const T* from = image + line / oh * h * w;
        const Between& r = rows[static_cast<size_t>(line % oh)];
        const auto read = [&](int64_t row, int64_t column) { return static_cast<double>(from[row * w + column]); };
        for (const auto& c : columns) {
          if (is_nearest) {
            *to++ = from[r.low * w + c.low];
            continue;
          }
          const double top = read(r.low, c.low) * (1 - c.part) + read(r.low, c.high) * c.part;
          const double bottom = read(r.high, c.low) * (1 - c.part) + read(r.high, c.high) * c.part;
          *to++ = static_cast<T>(top * (1 - r.part) + bottom * r.part);
        }
      }
    });
  });
  return {out};
}

}  // namespace rlgo::evaluate

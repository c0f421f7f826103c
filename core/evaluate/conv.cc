// Convolutions as matrix products, of few channels in a group element by element.
#include "core/evaluate/gemm.h"
#include "core/evaluate/windows.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;

Three three(std::span<const int64_t> items, int64_t missing) {
  Three out{missing, missing, missing};
  std::ranges::copy(items, out.end() - static_cast<int64_t>(items.size()));
  return out;
}

struct Channels {
  int64_t batch, group, in, out;  // in and out of one group
};

Channels channels_of(const Tensor& x, const Tensor& out, int64_t group) {
  return {x.shape()[0], group, x.shape()[1] / group, out.shape()[1] / group};
}

// Row c * window + k, column o of the matrix is what element k of the window at pixel o reads in channel c.
template <typename T>
auto pack_windows(const Windows& w, const T* x) {
  return [&w, x](int64_t first, int64_t depth, int64_t n, int64_t width, T* to) {
    const int64_t inside = std::min(width, w.out_plane() - n);
    std::array<Three, 32> starts;  // of the windows of the columns
    for (int64_t j = 0; j < inside; ++j) {
      const int64_t o = n + j;
      starts[static_cast<size_t>(j)] = {w.at(0, o / (w.out[1] * w.out[2]), 0), w.at(1, o / w.out[2] % w.out[1], 0),
                                        w.at(2, o % w.out[2], 0)};
    }
    for (int64_t i = first; i < first + depth; ++i, to += width) {
      const int64_t k = i % w.window();
      const int64_t d0 = k / (w.kernel[1] * w.kernel[2]) * w.dilations[0],
                    d1 = k / w.kernel[2] % w.kernel[1] * w.dilations[1], d2 = k % w.kernel[2] * w.dilations[2];
      const T* plane = x + i / w.window() * w.in_plane();
      for (int64_t j = 0; j < inside; ++j) {
        const Three& start = starts[static_cast<size_t>(j)];
        const int64_t a = start[0] + d0, b = start[1] + d1, c = start[2] + d2;
        const bool real = a >= 0 && a < w.in[0] && b >= 0 && b < w.in[1] && c >= 0 && c < w.in[2];
        to[j] = real ? plane[(a * w.in[1] + b) * w.in[2] + c] : T(0);
      }
      for (int64_t j = inside; j < width; ++j) to[j] = 0;
    }
  };
}

template <typename T>
void by_products(const Call& call, const Windows& w, const Channels& ch, const T* x, const T* weight, T* out) {
  std::vector<Product<T>> products;
  const int64_t depth = ch.in * w.window();
  for (int64_t p = 0; p < ch.batch * ch.group; ++p) {
    products.push_back({ch.out, w.out_plane(), depth, weight + p % ch.group * ch.out * depth, depth, 1,
                        pack_windows(w, x + p * ch.in * w.in_plane()), out + p * ch.out * w.out_plane(),
                        w.out_plane()});
  }
  multiply<T>(products, call.run);
}

// One output plane: adds each weight times the image that it meets.
template <typename T>
void add_plane(const Windows& w, int64_t channels, const T* x, const T* weight, T* out) {
  for (int64_t c = 0; c < channels; ++c, x += w.in_plane()) {
    for (int64_t k = 0; k < w.window(); ++k) {
      const int64_t k0 = k / (w.kernel[1] * w.kernel[2]), k1 = k / w.kernel[2] % w.kernel[1], k2 = k % w.kernel[2];
      const T factor = *weight++;
      // Outputs whose window element is no padding along the last axis.
      const int64_t shift = w.at(2, 0, k2), step = w.strides[2];
      const int64_t low = shift >= 0 ? 0 : (-shift + step - 1) / step;
      const int64_t high = shift >= w.in[2] ? 0 : std::min(w.out[2], (w.in[2] - shift + step - 1) / step);
      for (int64_t o0 = 0; o0 < w.out[0]; ++o0) {
        const int64_t a = w.at(0, o0, k0);
        for (int64_t o1 = 0; a >= 0 && a < w.in[0] && o1 < w.out[1]; ++o1) {
          const int64_t b = w.at(1, o1, k1);
          if (b < 0 || b >= w.in[1]) continue;
          const T* from = x + (a * w.in[1] + b) * w.in[2] + shift;
          T* to = out + (o0 * w.out[1] + o1) * w.out[2];
          for (int64_t o = low; o < high; ++o) to[o] += factor * from[o * step];
        }
      }
    }
  }
}

// y[batch, channel, ...] starts as the bias, or as 0.
template <typename T>
void set_bias(const Call& call, Tensor& out, int64_t plane) {
  const int64_t channels = out.shape()[1];
  Tensor bias;
  if (call.in.size() == 3) bias = cast(call.in[2], out.dtype());
  for (int64_t p = 0; p < out.shape()[0] * channels; ++p)
    std::fill_n(out.data<T>() + p * plane, plane, bias.defined() ? bias.data<T>()[p % channels] : T(0));
}

template <typename T>
void convolve(const Call& call, const Tensor& x, const Tensor& weight, Tensor& out) {
  const Windows w = windows_of(call);
  const auto ch = channels_of(x, out, call.attrs().i(Attr::group));
  set_bias<T>(call, out, w.out_plane());
  if (ch.out >= 4) return by_products(call, w, ch, x.data<T>(), weight.data<T>(), out.data<T>());
  const int64_t work = std::max<int64_t>(1, w.out_plane() * w.window() * ch.in);
  parallel(
      call.run, ch.batch * ch.group * ch.out, std::max<int64_t>(1, (1 << 18) / work), [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          add_plane(w, ch.in, x.data<T>() + p / ch.out * ch.in * w.in_plane(),
                    weight.data<T>() + p % (ch.group * ch.out) * ch.in * w.window(), out.data<T>() + p * w.out_plane());
        }
      });
}

constexpr int64_t kMostColumns = int64_t{1} << 21;  // elements of the matrix between product and image

// Adds the columns [channel * window, input pixel] of one group to its output planes. `w` is the window of the
// convolution that this one turns around: its outputs are the pixels of x.
template <typename T>
void scatter(const Windows& w, const T* columns, T* plane) {
  for (int64_t k = 0; k < w.window(); ++k) {
    const int64_t k0 = k / (w.kernel[1] * w.kernel[2]), k1 = k / w.kernel[2] % w.kernel[1], k2 = k % w.kernel[2];
    for (int64_t o = 0; o < w.out_plane(); ++o) {
      const T value = *columns++;
      const int64_t a = w.at(0, o / (w.out[1] * w.out[2]), k0), b = w.at(1, o / w.out[2] % w.out[1], k1),
                    c = w.at(2, o % w.out[2], k2);
      const bool real = a >= 0 && a < w.in[0] && b >= 0 && b < w.in[1] && c >= 0 && c < w.in[2];
      if (real) plane[(a * w.in[1] + b) * w.in[2] + c] += value;
    }
  }
}

template <typename T>
void convolve_transposed(const Call& call, const Tensor& x, const Tensor& weight, Tensor& out) {
  Windows w = windows_of(call);
  std::swap(w.in, w.out);
  const auto ch = channels_of(x, out, call.attrs().i(Attr::group));
  set_bias<T>(call, out, w.in_plane());
  const int64_t pixels = w.out_plane(), window = w.window(), row = ch.out * window;
  if (ch.in == 0 || x.elements() == 0) return;
  const int64_t at_once = std::clamp<int64_t>(kMostColumns / std::max<int64_t>(1, window * pixels), 1, ch.out);
  std::vector<T> columns(static_cast<size_t>(at_once * window * pixels));
  for (int64_t p = 0; p < ch.batch * ch.group; ++p) {
    const T* left = weight.data<T>() + p % ch.group * ch.in * row;
    for (int64_t first = 0; first < ch.out; first += at_once) {
      const int64_t count = std::min(at_once, ch.out - first);
      std::ranges::fill(columns, T(0));
      const Product<T> product{count * window,
                               pixels,
                               ch.in,
                               left + first * window,
                               1,
                               row,
                               pack_matrix(x.data<T>() + p * ch.in * pixels, pixels, 1, pixels),
                               columns.data(),
                               pixels};
      multiply<T>(std::span(&product, 1), call.run);
      parallel(call.run, count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c)
          scatter(w, columns.data() + c * window * pixels, out.data<T>() + (p * ch.out + first + c) * w.in_plane());
      });
    }
  }
}

// In float or double, rounded once.
template <typename F>
Tensor in_wide(const Call& call, F compute) {
  const auto& type = call.info.outputs[0];
  const auto dtype = held(type.dtype, call.precision);
  Tensor out(dtype == ops::DType::f64 ? dtype : ops::DType::f32, type.shape);
  if (out.elements() == 0) return Tensor(dtype, type.shape);
  compute(cast(call.in[0], out.dtype(), call.run), cast(call.in[1], out.dtype(), call.run), out);
  if (call.info.op == ops::Op::conv2d) activate(out, call.attrs().word(Attr::act), call.run);
  return cast(out, dtype, call.run);
}

}  // namespace

Windows windows_of(const Call& call) {
  const auto& attrs = call.attrs();
  const auto& x = call.in[0].shape();
  const size_t axes = x.size() - 2;
  const auto spatial = [&](const ops::Shape& shape) { return three(std::span(shape.data() + 2, axes), 1); };
  const std::span<const int64_t> pads = attrs.ints(Attr::pads);
  const auto* dilations = attrs.find(Attr::dilations);
  return {.planes = x[0] * x[1],
          .in = spatial(x),
          .out = spatial(call.info.outputs[0].shape),
          .kernel = call.in.size() > 1 ? spatial(call.in[1].shape()) : three(attrs.ints(Attr::kernel), 1),
          .strides = three(attrs.ints(Attr::strides), 1),
          .dilations = dilations != nullptr ? three(attrs.ints(Attr::dilations), 1) : Three{1, 1, 1},
          .begins = three(pads.first(axes), 0),
          .ends = three(pads.last(axes), 0)};
}

Tensors conv2d_kernel(const Call& call) {
  return {in_wide(call, [&](const Tensor& x, const Tensor& weight, Tensor& out) {
    if (out.dtype() == ops::DType::f64) return convolve<double>(call, x, weight, out);
    convolve<float>(call, x, weight, out);
  })};
}

Tensors conv_transpose_kernel(const Call& call) {
  return {in_wide(call, [&](const Tensor& x, const Tensor& weight, Tensor& out) {
    if (out.dtype() == ops::DType::f64) return convolve_transposed<double>(call, x, weight, out);
    convolve_transposed<float>(call, x, weight, out);
  })};
}

}  // namespace rlgo::evaluate

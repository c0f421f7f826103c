// Convolutions as matrix products, of few channels in a group element by element.
#include <cstring>

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

// Outputs that are neighbours along the last axis: columns [column, column + count) of a matrix; `start` is where the
// window of the first of them begins.
struct Stretch {
  int64_t column, count;
  Three start;
};

// Those of the outputs [n, n + count).
std::vector<Stretch> stretches(const Windows& w, int64_t n, int64_t count) {
  std::vector<Stretch> found;
  for (int64_t j = 0; j < count;) {
    const int64_t o = n + j, last = o % w.out[2], length = std::min(count - j, w.out[2] - last);
    found.push_back(
        {j, length, {w.at(0, o / (w.out[1] * w.out[2]), 0), w.at(1, o / w.out[2] % w.out[1], 0), w.at(2, last, 0)}});
    j += length;
  }
  return found;
}

// The outputs [low, high) of `count` whose element at first + o * step is one of [0, extent).
std::pair<int64_t, int64_t> inside(int64_t first, int64_t step, int64_t extent, int64_t count) {
  const int64_t low = first >= 0 ? 0 : std::min(count, (-first + step - 1) / step);
  const int64_t high = first >= extent ? 0 : std::min(count, (extent - first + step - 1) / step);
  return {low, std::max(low, high)};
}

// A copy of few elements, in place of a call for each.
template <typename T>
void copy_short(const T* from, int64_t count, T* to) {
  constexpr int64_t kAtOnce = 16;
  for (; count >= kAtOnce; count -= kAtOnce, from += kAtOnce, to += kAtOnce) std::memcpy(to, from, kAtOnce * sizeof(T));
  if (count >= kAtOnce / 2) {
    std::memcpy(to, from, kAtOnce / 2 * sizeof(T));
    count -= kAtOnce / 2, from += kAtOnce / 2, to += kAtOnce / 2;
  }
  for (; count > 0; --count) *to++ = *from++;
}

// Row c * window + k, column o of the matrix is what element k of the window at output o reads in channel c.
template <typename T>
auto pack_windows(const Windows& w, const T* x) {
  return [&w, x](int64_t first, int64_t depth, int64_t n, int64_t width, T* to) {
    const int64_t columns = std::min(width, w.out_plane() - n);
    const auto parts = stretches(w, n, columns);
    for (int64_t i = first; i < first + depth; ++i, to += width) {
      const int64_t k = i % w.window();
      const int64_t d0 = k / (w.kernel[1] * w.kernel[2]) * w.dilations[0],
                    d1 = k / w.kernel[2] % w.kernel[1] * w.dilations[1], d2 = k % w.kernel[2] * w.dilations[2];
      const T* plane = x + i / w.window() * w.in_plane();
      for (const auto& [column, count, start] : parts) {
        const int64_t a = start[0] + d0, b = start[1] + d1, c = start[2] + d2, step = w.strides[2];
        T* next = to + column;
        if (a < 0 || a >= w.in[0] || b < 0 || b >= w.in[1]) {
          std::fill_n(next, count, T(0));
          continue;
        }
        const T* row = plane + (a * w.in[1] + b) * w.in[2] + c;
        if (step == 1 && c >= 0 && c + count <= w.in[2]) {
          copy_short(row, count, next);
          continue;
        }
        const auto [low, high] = inside(c, step, w.in[2], count);
        std::fill_n(next, low, T(0));
        for (int64_t o = low; o < high; ++o) next[o] = row[o * step];
        std::fill_n(next + high, count - high, T(0));
      }
      std::fill_n(to + columns, width - columns, T(0));
    }
  };
}

// Windows of one element, side by side, read the image as it is.
bool reads_in_place(const Windows& w) {
  return w.window() == 1 && w.strides == Three{1, 1, 1} && w.begins == Three{} && w.ends == Three{};
}

template <typename T>
void by_products(const Call& call, const Windows& w, const Channels& ch, const T* x, const Tensor& weight, T* out) {
  std::vector<Product<T>> products;
  const int64_t depth = ch.in * w.window(), plane = w.out_plane();
  for (int64_t p = 0; p < ch.batch * ch.group; ++p) {
    const T* image = x + p * ch.in * w.in_plane();
    Product<T> product{
        .rows = ch.out, .columns = plane, .depth = depth, .a_row = depth, .pack_b = pack_windows(w, image)};
    const int64_t first = p % ch.group * ch.out * depth;
    if (weight.dtype() == dtype_of<T>()) {
      product.a = weight.data<T>() + first;
    } else {
      product.narrow_a = weight.data<float>() + first;
    }
    if (reads_in_place(w)) {
      product.pack_b = pack_matrix<T>(image, plane, plane);
      product.b = image;
      product.b_row = plane;
    }
    product.c = out + p * ch.out * plane;
    product.c_row = plane;
    products.push_back(std::move(product));
  }
  multiply<T>(products, call.run);
}

// Adds to one row of an output plane, with neighbours along the last axis, each weight times what it meets.
template <typename T>
void add_row(const Windows& w, int64_t channels, const T* x, const T* weight, int64_t o0, int64_t o1, T* to) {
  const int64_t step = w.strides[2];
  for (int64_t c = 0; c < channels; ++c, x += w.in_plane()) {
    for (int64_t k0 = 0; k0 < w.kernel[0]; ++k0) {
      for (int64_t k1 = 0; k1 < w.kernel[1]; ++k1, weight += w.kernel[2]) {
        const int64_t a = w.at(0, o0, k0), b = w.at(1, o1, k1);
        if (a < 0 || a >= w.in[0] || b < 0 || b >= w.in[1]) continue;
        const T* row = x + (a * w.in[1] + b) * w.in[2];
        for (int64_t k2 = 0; k2 < w.kernel[2]; ++k2) {
          const int64_t first = w.at(2, 0, k2);
          const auto [low, high] = inside(first, step, w.in[2], w.out[2]);
          const T factor = weight[k2], *from = row + first;
          if (step == 1) {
            for (int64_t o = low; o < high; ++o) to[o] += factor * from[o];
          } else {
            for (int64_t o = low; o < high; ++o) to[o] += factor * from[o * step];
          }
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
  T* to = out.data<T>();
  parallel(call.run, out.shape()[0] * channels, std::max<int64_t>(1, kPiece / plane), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      std::fill_n(to + p * plane, plane, bias.defined() ? bias.data<T>()[p % channels] : T(0));
  });
}

template <typename T>
void convolve(const Call& call, const Tensor& x, const Tensor& weight, Tensor& out) {
  const Windows w = windows_of(call);
  const auto ch = channels_of(x, out, call.attrs().i(Attr::group));
  set_bias<T>(call, out, w.out_plane());
  if (ch.out >= 4) return by_products(call, w, ch, x.data<T>(), weight, out.data<T>());
  const Tensor factors = cast(weight, out.dtype(), call.run);
  const int64_t rows = w.out[0] * w.out[1], work = std::max<int64_t>(1, w.out[2] * w.window() * ch.in);
  parallel(call.run, out.shape()[0] * out.shape()[1] * rows, std::max<int64_t>(1, (1 << 17) / work),
           [&](int64_t begin, int64_t end) {
             for (int64_t r = begin; r < end; ++r) {
               const int64_t p = r / rows, o0 = r % rows / w.out[1], o1 = r % w.out[1];
               add_row(w, ch.in, x.data<T>() + p / ch.out * ch.in * w.in_plane(),
                       factors.data<T>() + p % (ch.group * ch.out) * ch.in * w.window(), o0, o1,
                       out.data<T>() + r * w.out[2]);
             }
           });
}

constexpr int64_t kMostColumns = int64_t{1} << 21;  // elements of the matrix between product and image

// Adds to row a, b of an output plane the inputs that reach it: source(k) is the plane of element k of the window, and
// a factor for it. `w` is the window of the convolution that this one turns around: its outputs are the pixels of x.
template <typename T, typename Source>
void gather_row(const Windows& w, int64_t a, int64_t b, T* to, Source source) {
  // The output (of w) at which element k of the window reads `at`; -1 where there is none.
  const auto output = [&](size_t axis, int64_t at, int64_t k) {
    const int64_t from = at + w.begins[axis] - k * w.dilations[axis], o = from / w.strides[axis];
    return from >= 0 && from % w.strides[axis] == 0 && o < w.out[axis] ? o : -1;
  };
  for (int64_t k = 0; k < w.window(); k += w.kernel[2]) {
    const int64_t o0 = output(0, a, k / (w.kernel[1] * w.kernel[2])), o1 = output(1, b, k / w.kernel[2] % w.kernel[1]);
    if (o0 < 0 || o1 < 0) continue;
    for (int64_t k2 = 0; k2 < w.kernel[2]; ++k2) {
      const auto [plane, factor] = source(k + k2);
      const T* row = plane + (o0 * w.out[1] + o1) * w.out[2];
      const int64_t first = w.at(2, 0, k2), step = w.strides[2];
      const auto [low, high] = inside(first, step, w.in[2], w.out[2]);
      for (int64_t o = low; o < high; ++o) to[first + o * step] += factor * row[o];
    }
  }
}

// body(channel of the output, row along its first two axes) for so many channels from `first` on of one group.
template <typename F>
void each_row(const Run& run, const Windows& w, int64_t count, int64_t work, F body) {
  const int64_t rows = w.in[0] * w.in[1];
  parallel(run, count * rows, std::max<int64_t>(1, kPiece / std::max<int64_t>(1, work)),
           [&](int64_t begin, int64_t end) {
             for (int64_t r = begin; r < end; ++r) body(r / rows, r % rows);
           });
}

// One group of one image: x[in, pixels], weight[in, out * window], out[out, plane].
template <typename T>
void transpose_group(const Run& run, const Windows& w, const Channels& ch, const T* x, const T* weight, T* out) {
  const int64_t pixels = w.out_plane(), window = w.window(), row = ch.out * window, rows = w.in[0] * w.in[1];
  const auto target = [&](int64_t c, int64_t r) { return out + (c * rows + r) * w.in[2]; };
  if (ch.in < 4 || window > kMostColumns / pixels) {  // the matrix would be large for what it saves
    return each_row(run, w, ch.out, w.out[2] * window * ch.in, [&](int64_t c, int64_t r) {
      for (int64_t i = 0; i < ch.in; ++i) {
        const T* factors = weight + i * row + c * window;
        gather_row(w, r / w.in[1], r % w.in[1], target(c, r),
                   [&](int64_t k) { return std::pair(x + i * pixels, factors[k]); });
      }
    });
  }
  const int64_t at_once = std::clamp<int64_t>(kMostColumns / (window * pixels), 1, ch.out);
  std::vector<T> columns(static_cast<size_t>(at_once * window * pixels));
  for (int64_t first = 0; first < ch.out; first += at_once) {
    const int64_t count = std::min(at_once, ch.out - first);
    std::ranges::fill(columns, T(0));
    const Product<T> product{.rows = count * window,
                             .columns = pixels,
                             .depth = ch.in,
                             .a = weight + first * window,
                             .a_row = 1,
                             .a_column = row,
                             .pack_b = pack_matrix<T>(x, pixels, pixels),
                             .b = x,
                             .b_row = pixels,
                             .c = columns.data(),
                             .c_row = pixels};
    multiply<T>(std::span(&product, 1), run);
    each_row(run, w, count, w.out[2] * window, [&](int64_t c, int64_t r) {
      gather_row(w, r / w.in[1], r % w.in[1], target(first + c, r),
                 [&](int64_t k) { return std::pair(columns.data() + (c * window + k) * pixels, T(1)); });
    });
  }
}

template <typename T>
void convolve_transposed(const Call& call, const Tensor& x, const Tensor& weight, Tensor& out) {
  Windows w = windows_of(call);
  std::swap(w.in, w.out);
  const auto ch = channels_of(x, out, call.attrs().i(Attr::group));
  set_bias<T>(call, out, w.in_plane());
  if (x.elements() == 0) return;
  const Tensor factors = cast(weight, out.dtype(), call.run);
  for (int64_t p = 0; p < ch.batch * ch.group; ++p) {
    transpose_group(call.run, w, ch, x.data<T>() + p * ch.in * w.out_plane(),
                    factors.data<T>() + p % ch.group * ch.in * ch.out * w.window(),
                    out.data<T>() + p * ch.out * w.in_plane());
  }
}

// In float or double, rounded once. compute() gets the weight as it is where it is float.
template <typename F>
Tensor in_wide(const Call& call, F compute) {
  const auto& type = call.info.outputs[0];
  const auto dtype = held(type.dtype, call.precision);
  Tensor out(dtype == ops::DType::f64 ? dtype : ops::DType::f32, type.shape);
  if (out.elements() == 0) return Tensor(dtype, type.shape);
  const Tensor& weight = call.in[1];
  const bool is_float = weight.dtype() == ops::DType::f32;
  compute(cast(call.in[0], out.dtype(), call.run), is_float ? weight : cast(weight, out.dtype(), call.run), out);
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

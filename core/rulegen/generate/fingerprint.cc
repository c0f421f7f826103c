#include "core/rulegen/generate/fingerprint.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::rulegen {
namespace {

Tiny opaque(uint64_t code, const Tiny& x, double real) { return {hash_combine(0x0FA9 + code, x.field) % kPrime, real}; }

Tiny activate(Act act, const Tiny& x) {
  switch (act) {
    case Act::none:
      return x;
    case Act::relu:
      return x.real > 0 ? x : Tiny{};
    case Act::sigmoid:
      return opaque(1, x, 1 / (1 + std::exp(-x.real)));
    case Act::tanh:
      return x.field == 0 ? Tiny{} : opaque(2, x, std::tanh(x.real));
    case Act::gelu:
      return x.field == 0 ? Tiny{} : opaque(3, x, x.real * 0.5 * (1 + std::erf(x.real * M_SQRT1_2)));
  }
  return x;
}

Tiny reciprocal(int n) { return {prime_inverse(static_cast<uint64_t>(n)), 1.0 / n}; }

// Sum of products with one reduction for 16 of them.
class Dot {
 public:
  void add(const Tiny& a, const Tiny& b) {
    wide_ += static_cast<Wide>(a.field) * b.field;
    real_ += a.real * b.real;
    if (++count_ == 16) reduce();
  }
  Tiny finish() {
    reduce();
    const uint64_t field = static_cast<uint64_t>(wide_);
    return {field >= kPrime ? field - kPrime : field, real_};
  }

 private:
  __extension__ using Wide = unsigned __int128;
  void reduce() {
    wide_ = (wide_ & kPrime) + (wide_ >> 61);
    wide_ = (wide_ & kPrime) + (wide_ >> 61);
    count_ = 0;
  }
  Wide wide_ = 0;
  double real_ = 0;
  int count_ = 0;
};

// Strides of a broadcast operand along the axes of the output.
std::array<int, 4> broadcast_strides(const TinyShape& in, const TinyShape& out) {
  std::array<int, 4> strides{};
  int step = 1;
  for (int d = in.rank - 1; d >= 0; --d) {
    strides[d + out.rank - in.rank] = in.dim[d] == 1 ? 0 : step;
    step *= in.dim[d];
  }
  return strides;
}

template <typename Fn>
void for_each_index(const TinyShape& shape, Fn&& fn) {
  std::array<int, 4> index{};
  const int n = shape.elements();
  for (int flat = 0; flat < n; ++flat) {
    fn(flat, index);
    for (int d = shape.rank - 1; d >= 0 && ++index[d] == shape.dim[d]; --d) index[d] = 0;
  }
}

template <typename Fn>
void elementwise(std::span<const TinyView> in, const TinyShape& shape, Tiny* out, Fn&& fn) {
  if (in[0].shape == shape && in[1].shape == shape) {
    const int n = shape.elements();
    for (int i = 0; i < n; ++i) out[i] = fn(in[0].data[i], in[1].data[i]);
    return;
  }
  const auto a = broadcast_strides(in[0].shape, shape), b = broadcast_strides(in[1].shape, shape);
  for_each_index(shape, [&](int flat, const std::array<int, 4>& index) {
    int i = 0, j = 0;
    for (int d = 0; d < shape.rank; ++d) i += index[d] * a[d], j += index[d] * b[d];
    out[flat] = fn(in[0].data[i], in[1].data[j]);
  });
}

void matmul(std::span<const TinyView> in, const TinyShape& shape, Act act, Tiny* out) {
  const TinyShape &a = in[0].shape, &b = in[1].shape;
  const int m = shape.dim[shape.rank - 2], n = shape.dim[shape.rank - 1], inner = a.dim[a.rank - 1];
  TinyShape batch = shape;
  batch.rank = static_cast<uint8_t>(shape.rank - 2);
  TinyShape batch_a = a, batch_b = b;
  batch_a.rank = static_cast<uint8_t>(a.rank - 2);
  batch_b.rank = static_cast<uint8_t>(b.rank - 2);
  const auto sa = broadcast_strides(batch_a, batch), sb = broadcast_strides(batch_b, batch);
  for_each_index(batch, [&](int flat, const std::array<int, 4>& index) {
    int i = 0, j = 0;
    for (int d = 0; d < batch.rank; ++d) i += index[d] * sa[d], j += index[d] * sb[d];
    const Tiny *left = in[0].data + i * m * inner, *right = in[1].data + j * inner * n;
    Tiny* to = out + flat * m * n;
    for (int r = 0; r < m; ++r) {
      for (int c = 0; c < n; ++c) {
        Dot dot;
        for (int k = 0; k < inner; ++k) dot.add(left[r * inner + k], right[k * n + c]);
        to[r * n + c] = activate(act, dot.finish());
      }
    }
  });
}

// Calls fn(begin row, begin column) of the window of every output place.
void conv2d(const OpConfig& config, std::span<const TinyView> in, const TinyShape& shape, Tiny* out) {
  const TinyShape &x = in[0].shape, &w = in[1].shape;
  const int height = x.dim[2], width = x.dim[3], kh = w.dim[2], kw = w.dim[3], channels = w.dim[1];
  const int per_group = shape.dim[1] / (config.depthwise ? x.dim[1] : config.group);
  for_each_index(shape, [&](int flat, const std::array<int, 4>& at) {
    const int first = at[1] / per_group * channels;
    const int top = at[2] * config.strides[0] - config.pads[0], left = at[3] * config.strides[1] - config.pads[1];
    Dot dot;
    for (int c = 0; c < channels; ++c) {
      const Tiny* plane = in[0].data + (at[0] * x.dim[1] + first + c) * height * width;
      const Tiny* kernel = in[1].data + (at[1] * channels + c) * kh * kw;
      for (int i = std::max(0, -top); i < std::min(kh, height - top); ++i) {
        for (int j = std::max(0, -left); j < std::min(kw, width - left); ++j) {
          dot.add(plane[(top + i) * width + left + j], kernel[i * kw + j]);
        }
      }
    }
    out[flat] = activate(config.act, dot.finish());
  });
}

void pool(const OpConfig& config, const TinyView& in, const TinyShape& shape, Tiny* out) {
  const int height = in.shape.dim[2], width = in.shape.dim[3], kh = config.kernel[0], kw = config.kernel[1];
  for_each_index(shape, [&](int flat, const std::array<int, 4>& at) {
    const Tiny* plane = in.data + (at[0] * in.shape.dim[1] + at[1]) * height * width;
    const int top = at[2] * config.strides[0] - config.pads[0], left = at[3] * config.strides[1] - config.pads[1];
    Tiny best, sum;
    int count = 0;
    for (int i = std::max(0, -top); i < std::min(kh, height - top); ++i) {
      for (int j = std::max(0, -left); j < std::min(kw, width - left); ++j) {
        const Tiny& value = plane[(top + i) * width + left + j];
        if (count++ == 0 || value.real > best.real) best = value;
        sum = sum + value;
      }
    }
    out[flat] = config.op == ops::Op::max_pool ? best : sum * reciprocal(config.count_pads ? kh * kw : count);
  });
}

// Blocks of `outer` rows: axis and what lies inside it are one run.
struct Runs {
  int outer = 1, extent = 1, inner = 1;
};
Runs runs_of(const TinyShape& shape, int axis) {
  Runs runs;
  for (int d = 0; d < axis; ++d) runs.outer *= shape.dim[d];
  runs.extent = shape.dim[axis];
  for (int d = axis + 1; d < shape.rank; ++d) runs.inner *= shape.dim[d];
  return runs;
}

// Copies between a tensor and one that is joined from several along an axis.
void concat(std::span<const TinyView> in, int axis, const TinyShape& shape, Tiny* out) {
  const Runs whole = runs_of(shape, axis);
  int offset = 0;
  for (const auto& part : in) {
    const int run = part.shape.dim[axis] * whole.inner;
    for (int o = 0; o < whole.outer; ++o) {
      std::copy_n(part.data + o * run, run, out + o * whole.extent * whole.inner + offset);
    }
    offset += run;
  }
}
void split(const TinyView& in, int axis, std::span<const TinyShape> shapes, std::span<Tiny* const> out) {
  const Runs whole = runs_of(in.shape, axis);
  int offset = 0;
  for (size_t p = 0; p < shapes.size(); ++p) {
    const int run = shapes[p].dim[axis] * whole.inner;
    for (int o = 0; o < whole.outer; ++o) {
      std::copy_n(in.data + o * whole.extent * whole.inner + offset, run, out[p] + o * run);
    }
    offset += run;
  }
}

void transpose(const OpConfig& config, const TinyView& in, const TinyShape& shape, Tiny* out) {
  std::array<int, 4> strides{}, moved{};
  int step = 1;
  for (int d = in.shape.rank - 1; d >= 0; --d) strides[d] = step, step *= in.shape.dim[d];
  for (int d = 0; d < shape.rank; ++d) moved[d] = strides[config.perm[d]];
  for_each_index(shape, [&](int flat, const std::array<int, 4>& index) {
    int i = 0;
    for (int d = 0; d < shape.rank; ++d) i += index[d] * moved[d];
    out[flat] = in.data[i];
  });
}

// Zeros around the last two axes.
void pad(const OpConfig& config, const TinyView& in, const TinyShape& shape, Tiny* out) {
  std::fill_n(out, shape.elements(), Tiny{});
  const int height = in.shape.dim[2], width = in.shape.dim[3], planes = in.shape.dim[0] * in.shape.dim[1];
  for (int p = 0; p < planes; ++p) {
    for (int i = 0; i < height; ++i) {
      std::copy_n(in.data + (p * height + i) * width, width,
                  out + (p * shape.dim[2] + i + config.pads[0]) * shape.dim[3] + config.pads[1]);
    }
  }
}

// Calls fn(first element, step between elements) for each line along an axis.
template <typename Fn>
void for_each_line(const TinyShape& shape, int axis, Fn&& fn) {
  const Runs runs = runs_of(shape, axis);
  for (int o = 0; o < runs.outer; ++o) {
    for (int i = 0; i < runs.inner; ++i) fn(o * runs.extent * runs.inner + i, runs.inner, o * runs.inner + i);
  }
}

void reduce(const OpConfig& config, const TinyView& in, int axis, Tiny* out) {
  const int n = in.shape.dim[axis];
  const Tiny factor = config.op == ops::Op::reduce_mean ? reciprocal(n) : Tiny{1, 1};
  for_each_line(in.shape, axis, [&](int first, int step, int line) {
    Tiny sum;
    for (int k = 0; k < n; ++k) sum = sum + in.data[first + k * step];
    out[line] = sum * factor;
  });
}

// exp is opaque here: what rests on exp(x + y) = exp(x) exp(y) is not found.
void softmax(const TinyView& in, int axis, Tiny* out) {
  const int n = in.shape.dim[axis];
  for_each_line(in.shape, axis, [&](int first, int step, int) {
    Tiny sum;
    for (int k = 0; k < n; ++k) {
      const Tiny& x = in.data[first + k * step];
      const Tiny e = opaque(5, x, std::exp(std::min(x.real, 300.0)));
      out[first + k * step] = e;
      sum = sum + e;
    }
    const Tiny factor{prime_inverse(sum.field), 1 / sum.real};
    for (int k = 0; k < n; ++k) out[first + k * step] = out[first + k * step] * factor;
  });
}

// Along the last axis; 1 / sqrt(v + eps) is opaque.
void layer_norm(std::span<const TinyView> in, Tiny* out) {
  const TinyShape& shape = in[0].shape;
  const int n = shape.dim[shape.rank - 1], lines = shape.elements() / n;
  const Tiny over = reciprocal(n), minus{kPrime - 1, -1};
  for (int l = 0; l < lines; ++l) {
    const Tiny* x = in[0].data + l * n;
    Tiny sum, squares;
    for (int k = 0; k < n; ++k) sum = sum + x[k];
    const Tiny mean = sum * over * minus;
    for (int k = 0; k < n; ++k) squares = squares + (x[k] + mean) * (x[k] + mean);
    const Tiny variance = squares * over;
    const Tiny factor = opaque(6, variance, 1 / std::sqrt(variance.real + 1e-5));
    for (int k = 0; k < n; ++k) out[l * n + k] = (x[k] + mean) * factor * in[1].data[k] + in[2].data[k];
  }
}

}  // namespace

TinyShape tiny_shape(const ops::Shape& shape) {
  RLGO_CHECK_LE(shape.size(), size_t{4});
  TinyShape tiny;
  tiny.rank = static_cast<uint8_t>(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) tiny.dim[d] = static_cast<uint8_t>(shape[d]);
  return tiny;
}

void evaluate_tiny(const OpConfig& config, std::span<const TinyView> in, std::span<const TinyShape> shapes,
                   std::span<Tiny* const> out) {
  using ops::Op;
  const TinyShape& shape = shapes[0];
  const int axis = config.axis < 0 ? in[0].shape.rank + config.axis : config.axis;
  switch (config.op) {
    case Op::matmul:
      return matmul(in, shape, config.act, out[0]);
    case Op::add:
      return elementwise(in, shape, out[0], [](const Tiny& a, const Tiny& b) { return a + b; });
    case Op::mul:
      return elementwise(in, shape, out[0], [](const Tiny& a, const Tiny& b) { return a * b; });
    case Op::conv2d:
      return conv2d(config, in, shape, out[0]);
    case Op::max_pool:
    case Op::avg_pool:
      return pool(config, in[0], shape, out[0]);
    case Op::concat:
      return concat(in, axis, shape, out[0]);
    case Op::split:
      return split(in[0], axis, shapes, out);
    case Op::transpose:
      return transpose(config, in[0], shape, out[0]);
    case Op::pad:
      return pad(config, in[0], shape, out[0]);
    case Op::reduce_mean:
    case Op::reduce_sum:
      return reduce(config, in[0], axis, out[0]);
    case Op::softmax:
      return softmax(in[0], axis, out[0]);
    case Op::layer_norm:
      return layer_norm(in, out[0]);
    case Op::reshape:
      std::copy_n(in[0].data, shape.elements(), out[0]);
      return;
    default:
      break;
  }
  RLGO_CHECK(config.act != Act::none);
  const int n = shape.elements();
  for (int i = 0; i < n; ++i) out[0][i] = activate(config.act, in[0].data[i]);
}

uint64_t value_hash(const Tiny* data, const TinyShape& shape) {
  uint64_t h = shape.rank;
  for (int d = 0; d < shape.rank; ++d) h = h * 31 + shape.dim[d];
  h = mix64(h);
  const int n = shape.elements();
  for (int i = 0; i < n; ++i) {
    h = (h ^ data[i].field) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
  }
  return mix64(h);
}

Tiny random_tiny(uint64_t stream, uint64_t index, int negative) {
  const uint64_t h = hash_combine(stream, index);
  const auto n = static_cast<int64_t>(h >> 44) + 1;  // 20 bits
  const bool below = static_cast<int>(h & 255) < negative;
  return {prime_of(below ? -n : n), (below ? -1.0 : 1.0) * static_cast<double>(n) * 0x1p-20};
}

}  // namespace rlgo::rulegen

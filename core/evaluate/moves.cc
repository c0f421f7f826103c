// Operators that move, repeat, make or convert elements.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;
using ops::Shape;
using Steps = std::vector<int64_t>;

// As wide as a cache line of floats: both sides of so many rows of so many elements stay in the cache.
constexpr int64_t kTile = 16;

// The axis along which the source lies where the target lies along the last one, and both are long; -1: none.
int tiled_axis(const Shape& shape, const Steps& from, const Steps& to) {
  const int last = static_cast<int>(shape.size()) - 1;
  if (last < 1 || to[last] != 1 || from[last] < kTile || shape[last] < kTile) return -1;
  for (int d = 0; d < last; ++d) {
    if (from[d] == 1 && shape[d] >= kTile) return d;
  }
  return -1;
}

// The same as move(), `axis` being tiled_axis(): element by element each would be a cache line of its own.
template <typename T>
void move_tiles(const Run& run, const Shape& shape, int axis, const T* source, const Steps& from, T* target,
                const Steps& to) {
  const int last = static_cast<int>(shape.size()) - 1;
  const int64_t across = (shape[last] + kTile - 1) / kTile, tiles = (shape[axis] + kTile - 1) / kTile * across;
  int64_t others = 1;
  for (int d = 0; d < last; ++d) others *= d == axis ? 1 : shape[d];
  parallel(run, others * tiles, kPiece / (kTile * kTile), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const T* in = source;
      T* out = target;
      int64_t place = k / tiles;
      for (int d = last - 1; d >= 0; --d) {
        if (d == axis) continue;
        in += place % shape[d] * from[d];
        out += place % shape[d] * to[d];
        place /= shape[d];
      }
      const int64_t row = k % tiles / across * kTile, column = k % across * kTile;
      const int64_t row_end = std::min(row + kTile, shape[axis]), column_end = std::min(column + kTile, shape[last]);
      for (int64_t i = row; i < row_end; ++i) {
        for (int64_t j = column; j < column_end; ++j) out[i * to[axis] + j] = in[i + j * from[last]];
      }
    }
  });
}

// to[steps] = from[steps] over `shape`, both from an offset in elements.
void move(const Run& run, const Shape& shape, const Tensor& from, int64_t from_start, const Steps& from_steps,
          Tensor& to, int64_t to_start, const Steps& to_steps) {
  const Walk<2> walk(shape, {to_steps, from_steps});
  const int axis = tiled_axis(shape, from_steps, to_steps);
  visit(to.dtype(), [&]<typename T>() {
    const T* source = from.data<T>() + from_start;
    T* target = to.data<T>() + to_start;
    if (axis >= 0) return move_tiles(run, shape, axis, source, from_steps, target, to_steps);
    const int64_t step = walk.step(1), to_step = walk.step(0);
    walk.each(run, [&](const auto& at, int64_t length) {
      if (step == 1 && to_step == 1) {
        std::memcpy(target + at[0], source + at[1], static_cast<size_t>(length) * sizeof(T));
      } else {
        for (int64_t i = 0; i < length; ++i) target[at[0] + i * to_step] = source[at[1] + i * step];
      }
    });
  });
}

// All of `out` from x.
Tensors moved(const Call& call, int64_t start, const Steps& steps) {
  Tensor out = call.output();
  move(call.run, out.shape(), call.in[0], start, steps, out, 0, row_major(out.shape()));
  return {out};
}

// The integer towards zero where it is one of To; else the smallest of To.
template <typename To>
To truncated(double x) {
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<To>::min());
  const double whole = std::trunc(x);
  return whole >= kLeast && whole < -kLeast ? static_cast<To>(whole) : std::numeric_limits<To>::min();
}

template <typename To, typename From>
To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return static_cast<Arith<From>>(x) != 0;
  } else if constexpr (!std::is_same_v<To, Arith<To>>) {  // by way of float, as LibTorch and ONNX Runtime
    return To(static_cast<double>(static_cast<float>(x)));
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const auto value = static_cast<double>(x);
    constexpr bool kIsWide = sizeof(To) == 8 || std::is_same_v<To, uint8_t>;
    using Between = std::conditional_t<kIsWide, int64_t, int32_t>;
    constexpr double kHalf = -static_cast<double>(std::numeric_limits<Between>::min());
    if (std::is_unsigned_v<To> && sizeof(To) >= 4 && value >= kHalf)
      return static_cast<To>(value < 2 * kHalf ? value : 0);
    return static_cast<To>(truncated<Between>(value));
  } else {
    return static_cast<To>(x);
  }
}

void set_all(Tensor& x, double value) {
  visit(x.dtype(), [&]<typename T>() { std::fill_n(x.data<T>(), x.elements(), convert<T>(value)); });
}

}  // namespace

Tensor cast(const Tensor& x, ops::DType dtype, const Run& run) {
  if (x.dtype() == dtype) return x;
  Tensor out(dtype, x.shape());
  visit(x.dtype(), [&]<typename From>() {
    visit(out.dtype(), [&]<typename To>() {
      const From* from = x.data<From>();
      To* to = out.data<To>();
      parallel(run, x.elements(), kPiece, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = convert<To>(from[i]);
      });
    });
  });
  return out;
}

Tensors cast_kernel(const Call& call) {
  return {cast(call.in[0], held(call.info.outputs[0].dtype, call.precision), call.run)};
}

Tensors reshape_kernel(const Call& call) { return {call.in[0].reshaped(call.info.outputs[0].shape)}; }

Tensors expand_kernel(const Call& call) {
  return moved(call, 0, broadcast_steps(call.in[0].shape(), call.info.outputs[0].shape));
}

Tensors transpose_kernel(const Call& call) {
  const auto steps = row_major(call.in[0].shape());
  Steps permuted;
  for (int64_t axis : call.attrs().ints(Attr::perm)) permuted.push_back(steps[static_cast<size_t>(axis)]);
  return moved(call, 0, permuted);
}

Tensors slice_kernel(const Call& call) {
  const auto& attrs = call.attrs();
  const auto &axes = attrs.ints(Attr::axes), &starts = attrs.ints(Attr::starts), &by = attrs.ints(Attr::steps);
  auto steps = row_major(call.in[0].shape());
  int64_t start = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t& step = steps[static_cast<size_t>(axes[k])];
    start += starts[k] * step;
    step *= by[k];
  }
  return moved(call, start, steps);
}

Tensors concat_kernel(const Call& call) {
  Tensor out = call.output();
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const auto steps = row_major(out.shape());
  int64_t start = 0;
  for (const Tensor& x : call.in) {
    move(call.run, x.shape(), x, 0, row_major(x.shape()), out, start, steps);
    start += x.shape()[axis] * steps[axis];
  }
  return {out};
}

Tensors split_kernel(const Call& call) {
  const Tensor& x = call.in[0];
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const auto steps = row_major(x.shape());
  Tensors outputs;
  int64_t start = 0;
  for (size_t p = 0; p < call.info.outputs.size(); ++p) {
    Tensor out = call.output(p);
    move(call.run, out.shape(), x, start, steps, out, 0, row_major(out.shape()));
    start += out.shape()[axis] * steps[axis];
    outputs.push_back(std::move(out));
  }
  return outputs;
}

// Negative pads cut.
Tensors pad_kernel(const Call& call) {
  const Tensor& x = call.in[0];
  const auto& pads = call.attrs().ints(Attr::pads);
  Tensor out = call.output();
  set_all(out, call.attrs().f(Attr::value));
  const auto from_steps = row_major(x.shape()), to_steps = row_major(out.shape());
  Shape kept;
  int64_t from = 0, to = 0;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    const int64_t begin = std::max<int64_t>(0, -pads[d]), end = std::min(x.shape()[d], out.shape()[d] - pads[d]);
    kept.push_back(std::max<int64_t>(0, end - begin));
    from += begin * from_steps[d];
    to += std::max<int64_t>(0, pads[d]) * to_steps[d];
  }
  move(call.run, kept, x, from, from_steps, out, to, to_steps);
  return {out};
}

// Indices in [-extent, extent), as ONNX. Rows of a table in a narrower type become wide once they are chosen.
Tensors gather_kernel(const Call& call) {
  const Tensor& x = call.in[0];
  const Tensor indices = cast(call.in[1], ops::DType::i64);
  Tensor out(x.dtype(), call.info.outputs[0].shape);
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const int64_t extent = x.shape()[axis], count = indices.elements();
  const int64_t block = row_major(x.shape())[axis] * ops::size_bytes(x.dtype()), outer = out.bytes() / (count * block);
  const auto* from = static_cast<const char*>(x.raw());
  auto* to = static_cast<char*>(out.raw());
  const auto* index = indices.data<int64_t>();
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 16) / block);
  parallel(call.run, outer * count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = from_front(call, index[i % count], extent);
      std::memcpy(to + i * block, from + (i / count * extent + at) * block, static_cast<size_t>(block));
    }
  });
  return {cast(out, held(call.info.outputs[0].dtype, call.precision), call.run)};
}

Tensors fill_kernel(const Call& call) {
  Tensor out = call.output();
  set_all(out, call.attrs().f(Attr::value));
  return {out};
}

Tensors literal_kernel(const Call& call) {
  const auto& values = call.attrs().ints(Attr::values);
  Tensor whole(ops::DType::i64, call.info.outputs[0].shape);
  std::copy_n(values.begin(), whole.elements(), whole.data<int64_t>());
  return {cast(whole, held(call.info.outputs[0].dtype, call.precision))};
}

}  // namespace rlgo::evaluate

// Operators that place elements by indices or in blocks, sums along an axis, and triangles.
#include <cstring>
#include <functional>

#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;
using ops::Shape;

// x of `from`, its axes in the order `perm`, as `to`.
Tensor rearranged(const Call& call, const Shape& from, const std::vector<size_t>& perm) {
  Tensor out = call.output();
  const auto own = row_major(from);
  Shape shape;
  std::vector<int64_t> steps;
  for (const size_t axis : perm) {
    shape.push_back(from[axis]);
    steps.push_back(own[axis]);
  }
  const Walk<2> walk(shape, {row_major(shape), steps});
  visit(out.dtype(), [&]<typename T>() {
    const T* source = call.in[0].data<T>();
    T* target = out.data<T>();
    walk.each(call.run, [&](const auto& at, int64_t length) {
      for (int64_t i = 0; i < length; ++i) target[at[0] + i * walk.step(0)] = source[at[1] + i * walk.step(1)];
    });
  });
  return out;
}

// Calls f(place among the indices, offset in x) for all of them along `axis`.
template <typename F>
void each_indexed(const Call& call, F&& f) {
  const Tensor& x = call.in[0];
  const Tensor indices = cast(call.in[1], ops::DType::i64);
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const auto steps = row_major(x.shape());
  auto others = steps;
  others[axis] = 0;
  const Walk<2> walk(indices.shape(), {row_major(indices.shape()), others});
  const auto* index = indices.data<int64_t>();
  walk.each(0, walk.rows(), [&](const auto& at) {
    for (int64_t i = 0; i < walk.length(); ++i) {
      const int64_t place = at[0] + i * walk.step(0);
      f(place, at[1] + i * walk.step(1) + from_front(call, index[place], x.shape()[axis]) * steps[axis]);
    }
  });
}

// Calls f(which list of indices, offset in x of the block that it picks behind `batch` axes); returns a block's size.
template <typename F>
int64_t each_block(const Call& call, int64_t batch, F&& f) {
  const Tensor& x = call.in[0];
  const Tensor indices = cast(call.in[1], ops::DType::i64);
  const auto steps = row_major(x.shape());
  const int64_t depth = indices.shape()[indices.shape().size() - 1], lists = indices.elements() / depth;
  int64_t batches = 1;
  for (int64_t d = 0; d < batch; ++d) batches *= x.shape()[static_cast<size_t>(d)];
  const int64_t batch_step = x.elements() / std::max<int64_t>(batches, 1), per_batch = lists / batches;
  const auto* index = indices.data<int64_t>();
  for (int64_t k = 0; k < lists; ++k) {
    int64_t offset = k / per_batch * batch_step;
    for (int64_t d = 0; d < depth; ++d) {
      const auto axis = static_cast<size_t>(batch + d);
      offset += from_front(call, index[k * depth + d], x.shape()[axis]) * steps[axis];
    }
    f(k, offset);
  }
  return steps[static_cast<size_t>(batch + depth - 1)];
}

// to = reduction(to, from)
template <typename T>
void combine(std::string_view reduction, T& to, T from) {
  const auto a = static_cast<Arith<T>>(to), b = static_cast<Arith<T>>(from);
  if (reduction == "none") {
    to = from;
  } else if (reduction == "add") {
    to = static_cast<T>(a + b);
  } else if (reduction == "mul") {
    to = static_cast<T>(a * b);
  } else {
    const bool larger = b > a;
    if (larger == (reduction == "max")) to = from;
  }
}

// A copy of x, to write into.
Tensor copied(const Call& call) {
  Tensor out = call.output();
  std::memcpy(out.raw(), call.in[0].raw(), static_cast<size_t>(out.bytes()));
  return out;
}

}  // namespace

Tensors depth_to_space_kernel(const Call& call) {
  const Shape& x = call.in[0].shape();
  const int64_t b = call.attrs().i(Attr::blocksize), c = x[1] / (b * b);
  if (call.attrs().word(Attr::mode) == "DCR")
    return {rearranged(call, {x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2})};
  return {rearranged(call, {x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3})};
}

Tensors space_to_depth_kernel(const Call& call) {
  const Shape& x = call.in[0].shape();
  const int64_t b = call.attrs().i(Attr::blocksize);
  return {rearranged(call, {x[0], x[1], x[2] / b, b, x[3] / b, b}, {0, 3, 5, 1, 2, 4})};
}

Tensors gather_elements_kernel(const Call& call) {
  Tensor out = call.output();
  visit(out.dtype(), [&]<typename T>() {
    const T* x = call.in[0].data<T>();
    T* y = out.data<T>();
    each_indexed(call, [&](int64_t place, int64_t from) { y[place] = x[from]; });
  });
  return {out};
}

Tensors scatter_elements_kernel(const Call& call) {
  Tensor out = copied(call);
  visit(out.dtype(), [&]<typename T>() {
    const T* updates = call.in[2].data<T>();
    T* y = out.data<T>();
    const std::string_view reduction = call.attrs().word(Attr::reduction);
    each_indexed(call, [&](int64_t place, int64_t to) { combine(reduction, y[to], updates[place]); });
  });
  return {out};
}

Tensors gather_nd_kernel(const Call& call) {
  Tensor out = call.output();
  visit(out.dtype(), [&]<typename T>() {
    const T* x = call.in[0].data<T>();
    T* y = out.data<T>();
    const int64_t lists = call.in[1].elements() / call.in[1].shape()[call.in[1].shape().size() - 1],
                  block = out.elements() / std::max<int64_t>(lists, 1);
    each_block(call, call.attrs().i(Attr::batch_dims),
               [&](int64_t k, int64_t from) { std::copy_n(x + from, block, y + k * block); });
  });
  return {out};
}

Tensors scatter_nd_kernel(const Call& call) {
  Tensor out = copied(call);
  visit(out.dtype(), [&]<typename T>() {
    const T* updates = call.in[2].data<T>();
    T* y = out.data<T>();
    const std::string_view reduction = call.attrs().word(Attr::reduction);
    const int64_t lists = call.in[1].elements() / call.in[1].shape()[call.in[1].shape().size() - 1],
                  block = call.in[2].elements() / std::max<int64_t>(lists, 1);
    each_block(call, 0, [&](int64_t k, int64_t to) {
      for (int64_t i = 0; i < block; ++i) combine(reduction, y[to + i], updates[k * block + i]);
    });
  });
  return {out};
}

// Floats are summed in double precision.
Tensors cumsum_kernel(const Call& call) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const int64_t step = row_major(x.shape())[axis], length = x.shape()[axis];
  const bool exclusive = call.attrs().i(Attr::exclusive) == 1, reverse = call.attrs().i(Attr::reverse) == 1;
  visit(x.dtype(), [&]<typename T>() {
    using Sum = std::conditional_t<std::is_integral_v<T>, T, double>;
    const T* from = x.data<T>();
    T* to = out.data<T>();
    parallel(call.run, x.elements() / length, std::max<int64_t>(1, kPiece / length), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t start = line / step * step * length + line % step;
        Sum sum = 0;
        for (int64_t i = 0; i < length; ++i) {
          const int64_t at = start + (reverse ? length - 1 - i : i) * step;
          if (exclusive) to[at] = static_cast<T>(sum);
          sum = static_cast<Sum>(sum + static_cast<Sum>(from[at]));
          if (!exclusive) to[at] = static_cast<T>(sum);
        }
      }
    });
  });
  return {out};
}

Tensors trilu_kernel(const Call& call) {
  Tensor out = copied(call);
  const bool upper = call.attrs().i(Attr::upper) == 1;
  const int64_t diagonal = call.attrs().i(Attr::diagonal);
  const int64_t columns = out.shape()[out.shape().size() - 1], rows = out.shape()[out.shape().size() - 2];
  visit(out.dtype(), [&]<typename T>() {
    T* y = out.data<T>();
    for (int64_t k = 0; k < out.elements(); ++k) {
      const int64_t above = k % columns - k / columns % rows;
      if (upper ? above < diagonal : above > diagonal) y[k] = T();
    }
  });
  return {out};
}

Tensors one_hot_kernel(const Call& call) {
  Tensor out = call.output();
  const Tensor indices = cast(call.in[0], ops::DType::i64);
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const int64_t depth = call.attrs().i(Attr::depth), step = row_major(out.shape())[axis];
  visit(out.dtype(), [&]<typename T>() {
    const T *values = call.in[1].data<T>(), off = values[0], on = values[1];
    T* y = out.data<T>();
    std::fill_n(y, out.elements(), off);
    for (int64_t k = 0; k < indices.elements(); ++k) {
      const int64_t index = indices.data<int64_t>()[k], place = index < 0 ? index + depth : index;
      if (place >= 0 && place < depth) y[(k / step * depth + place) * step + k % step] = on;
    }
  });
  return {out};
}

}  // namespace rlgo::evaluate

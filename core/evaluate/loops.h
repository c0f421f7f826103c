// Loops over the elements of one tensor, and over the broadcast elements of two.
#pragma once

#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {

// to[i] = f(x[i])
template <typename To, typename From, typename F>
void map(const Run& run, const From* x, To* to, int64_t count, F f) {
  parallel(run, count, kPiece, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(f(static_cast<Arith<From>>(x[i])));
  });
}

// f of each float of the first input.
template <typename F>
Tensors unary(const Call& call, F f) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  visit_float(x.dtype(), [&]<typename T>() { map(call.run, x.data<T>(), out.data<T>(), x.elements(), f); });
  return {out};
}

// c[i] = f(a[i * a_step], b[i * b_step]); the usual steps are constants, for loops that a compiler vectorises.
template <typename To, typename T, typename F>
void zip_row(int64_t length, const T* a, int64_t a_step, const T* b, int64_t b_step, To* c, F f) {
  const auto each = [&](auto a_by, auto b_by) {
    for (int64_t i = 0; i < length; ++i)
      c[i] = static_cast<To>(f(static_cast<Arith<T>>(a[i * a_by]), static_cast<Arith<T>>(b[i * b_by])));
  };
  constexpr std::integral_constant<int64_t, 0> kStay;
  constexpr std::integral_constant<int64_t, 1> kNext;
  if (a_step == 1 && b_step == 1) return each(kNext, kNext);
  if (a_step == 1 && b_step == 0) return each(kNext, kStay);
  if (a_step == 0 && b_step == 1) return each(kStay, kNext);
  each(a_step, b_step);
}

// to[i] = f(x[i], y[i])
template <typename To, typename T, typename F>
void zip(const Run& run, const Tensor& x, const Tensor& y, Tensor& to, F f) {
  const Walk<3> walk(to.shape(), {row_major(to.shape()), broadcast_steps(x.shape(), to.shape()),
                                  broadcast_steps(y.shape(), to.shape())});
  const T *a = x.data<T>(), *b = y.data<T>();
  To* c = to.data<To>();
  walk.each(run, [&](const auto& at, int64_t length) {
    zip_row(length, a + at[1], walk.step(1), b + at[2], walk.step(2), c + at[0], f);
  });
}

}  // namespace rlgo::evaluate

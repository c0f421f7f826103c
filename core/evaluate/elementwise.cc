// Arithmetic, comparisons and logic on the broadcast elements of several tensors.
#include <cmath>

#include "core/evaluate/loops.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;

// To a tensor of the inputs' type, which is a number.
template <typename F>
Tensors binary(const Call& call, F f) {
  Tensor out = call.output();
  visit(call.in[0].dtype(), [&]<typename T>() {
    if constexpr (!std::is_same_v<T, bool>) zip<T, T>(call.run, call.in[0], call.in[1], out, f);
  });
  return {out};
}
template <typename F>
Tensors binary_floats(const Call& call, F f) {
  Tensor out = call.output();
  visit_float(call.in[0].dtype(), [&]<typename T>() { zip<T, T>(call.run, call.in[0], call.in[1], out, f); });
  return {out};
}
template <typename F>
Tensors compare(const Call& call, F f) {
  Tensor out = call.output();
  visit(call.in[0].dtype(), [&]<typename T>() { zip<bool, T>(call.run, call.in[0], call.in[1], out, f); });
  return {out};
}
template <typename F>
Tensors logic(const Call& call, F f) {
  Tensor out = call.output();
  zip<bool, bool>(call.run, call.in[0], call.in[1], out, f);
  return {out};
}

// Integers wrap around: f is computed modulo 2^64.
template <typename T, typename F>
T arithmetic(T a, T b, F f) {
  if constexpr (std::is_floating_point_v<T>) return f(a, b);
  return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

// The processor traps at integers over 0, and at the smallest one over -1.
template <typename T>
bool is_minus_one(T b) {
  if (b == 0) fail("division of an integer by zero");
  return std::is_signed_v<T> && b == static_cast<T>(-1);
}

template <typename T>
T quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (is_minus_one(b)) return static_cast<T>(-static_cast<uint64_t>(a));  // wraps around as a negation does
    return static_cast<T>(a / b);
  }
}

// Of the sign of the dividend, or (integers alone) of the divisor.
template <typename T>
T rest(T a, T b, bool of_dividend) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (is_minus_one(b)) return 0;
    const auto left = static_cast<T>(a % b);
    return !of_dividend && left != 0 && (left < 0) != (b < 0) ? static_cast<T>(left + b) : left;
  }
}

}  // namespace

void add_to(Tensor& x, const Tensor& y, const Run& run) {
  visit_float(x.dtype(), [&]<typename T>() { zip<T, T>(run, x, y, x, [](auto a, auto b) { return a + b; }); });
}

Tensors add_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return arithmetic(a, b, std::plus<>()); });
}
Tensors sub_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return arithmetic(a, b, std::minus<>()); });
}
Tensors mul_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return arithmetic(a, b, std::multiplies<>()); });
}
Tensors div_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return quotient(a, b); });
}
Tensors mod_kernel(const Call& call) {
  const bool of_dividend = call.attrs().i(Attr::fmod) == 1;
  return binary(call, [=](auto a, auto b) { return rest(a, b, of_dividend); });
}
// A NaN on either side stays one.
Tensors min_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return a != a || a < b ? a : b; });
}
Tensors max_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return a != a || a > b ? a : b; });
}
Tensors pow_kernel(const Call& call) {
  return binary_floats(call, [](auto a, auto b) { return std::pow(a, b); });
}
Tensors prelu_kernel(const Call& call) {
  return binary_floats(call, [](auto x, auto slope) { return x > 0 ? x : x * slope; });
}

Tensors equal_kernel(const Call& call) {
  return compare(call, [](auto a, auto b) { return a == b; });
}
Tensors less_kernel(const Call& call) {
  return compare(call, [](auto a, auto b) { return a < b; });
}
Tensors less_equal_kernel(const Call& call) {
  return compare(call, [](auto a, auto b) { return a <= b; });
}
Tensors logical_and_kernel(const Call& call) {
  return logic(call, [](bool a, bool b) { return a && b; });
}
Tensors logical_or_kernel(const Call& call) {
  return logic(call, [](bool a, bool b) { return a || b; });
}
Tensors logical_not_kernel(const Call& call) {
  Tensor out = call.output();
  map(call.run, call.in[0].data<bool>(), out.data<bool>(), out.elements(), [](bool a) { return !a; });
  return {out};
}

Tensors where_kernel(const Call& call) {
  Tensor out = call.output();
  const auto& shape = out.shape();
  const auto steps = [&](size_t k) { return broadcast_steps(call.in[k].shape(), shape); };
  const Walk<4> walk(shape, {row_major(shape), steps(0), steps(1), steps(2)});
  const bool* choice = call.in[0].data<bool>();
  visit(out.dtype(), [&]<typename T>() {
    const T *a = call.in[1].data<T>(), *b = call.in[2].data<T>();
    T* to = out.data<T>();
    const int64_t by = walk.step(1), a_step = walk.step(2), b_step = walk.step(3);
    walk.each(call.run, [&](const auto& at, int64_t length) {
      for (int64_t i = 0; i < length; ++i)
        to[at[0] + i] = choice[at[1] + i * by] ? a[at[2] + i * a_step] : b[at[3] + i * b_step];
    });
  });
  return {out};
}

}  // namespace rlgo::evaluate

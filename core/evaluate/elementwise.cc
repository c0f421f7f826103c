// One element, or the broadcast elements of several tensors, at a time.
#include <cmath>
#include <numbers>

#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;

// to[i] = f(x[i])
template <typename To, typename From, typename F>
void map(const Run& run, const From* x, To* to, int64_t count, F f) {
  parallel(run, count, int64_t{1} << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(f(static_cast<Arith<From>>(x[i])));
  });
}

template <typename F>
Tensors unary(const Call& call, F f) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  visit_float(x.dtype(), [&]<typename T>() { map(call.run, x.data<T>(), out.data<T>(), x.elements(), f); });
  return {out};
}

// to[i] = f(x[i], y[i])
template <typename To, typename T, typename F>
void zip(const Run& run, const Tensor& x, const Tensor& y, Tensor& to, F f) {
  const Walk<3> walk(to.shape(), {row_major(to.shape()), broadcast_steps(x.shape(), to.shape()),
                                  broadcast_steps(y.shape(), to.shape())});
  const T *a = x.data<T>(), *b = y.data<T>();
  To* c = to.data<To>();
  const int64_t length = walk.length(), a_step = walk.step(1), b_step = walk.step(2);
  parallel(run, walk.rows(), walk.grain(), [&](int64_t begin, int64_t end) {
    walk.each(begin, end, [&](const auto& at) {
      for (int64_t i = 0; i < length; ++i) {
        c[at[0] + i] = static_cast<To>(
            f(static_cast<Arith<T>>(a[at[1] + i * a_step]), static_cast<Arith<T>>(b[at[2] + i * b_step])));
      }
    });
  });
}

// To a tensor of the inputs' type.
template <typename F>
Tensors binary(const Call& call, F f) {
  Tensor out = call.output();
  visit(call.in[0].dtype(), [&]<typename T>() { zip<T, T>(call.run, call.in[0], call.in[1], out, f); });
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

template <typename T>
T quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) fail("division of an integer by zero");
    // The processor traps at the smallest integer over -1, which wraps around as a negation does.
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(-static_cast<uint64_t>(a));
    return static_cast<T>(a / b);
  }
}

template <typename T>
T relu(T x) {
  return x < 0 ? T(0) : x;
}
template <typename T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
template <typename T>
T gelu(T x) {
  return x * T(0.5) * (T(1) + std::erf(x * T(std::numbers::sqrt2 / 2)));
}
template <typename T>
T gelu_by_tanh(T x) {
  constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return T(0.5) * x * (T(1) + std::tanh(T(kScale) * (x + T(0.044715) * x * x * x)));
}
template <typename T>
T clamp(T x, double low, double high) {  // a NaN stays one
  return x < T(low) ? T(low) : x > T(high) ? T(high) : x;
}
template <typename T>
T hard_swish(T x) {
  return x * clamp(x + T(3), 0, 6) / T(6);
}

template <typename T, typename F>
void map_in_place(Tensor& x, const Run& run, F f) {
  map(run, x.data<T>(), x.data<T>(), x.elements(), f);
}

}  // namespace

void activate(Tensor& x, std::string_view act, const Run& run) {
  if (act == "none") return;
  visit_float(x.dtype(), [&]<typename T>() {
    if (act == "relu") return map_in_place<T>(x, run, [](auto v) { return relu(v); });
    if (act == "sigmoid") return map_in_place<T>(x, run, [](auto v) { return sigmoid(v); });
    if (act == "tanh") return map_in_place<T>(x, run, [](auto v) { return std::tanh(v); });
    if (act == "gelu") return map_in_place<T>(x, run, [](auto v) { return gelu(v); });
    if (act == "hard_swish") return map_in_place<T>(x, run, [](auto v) { return hard_swish(v); });
    fail("internal: no activation '{}' (this is a bug of rlgo)", act);
  });
}

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
Tensors min_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return a != a || a < b ? a : b; });
}
Tensors max_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return a != a || a > b ? a : b; });
}
Tensors pow_kernel(const Call& call) {
  return binary(call, [](auto a, auto b) { return std::pow(a, b); });
}
Tensors prelu_kernel(const Call& call) {
  return binary(call, [](auto x, auto slope) { return x > 0 ? x : arithmetic(x, slope, std::multiplies<>()); });
}

Tensors relu_kernel(const Call& call) {
  return unary(call, [](auto x) { return relu(x); });
}
Tensors sigmoid_kernel(const Call& call) {
  return unary(call, [](auto x) { return sigmoid(x); });
}
Tensors tanh_kernel(const Call& call) {
  return unary(call, [](auto x) { return std::tanh(x); });
}
Tensors gelu_kernel(const Call& call) {
  if (call.attrs().word(Attr::approximate) == "tanh") return unary(call, [](auto x) { return gelu_by_tanh(x); });
  return unary(call, [](auto x) { return gelu(x); });
}
Tensors erf_kernel(const Call& call) {
  return unary(call, [](auto x) { return std::erf(x); });
}
Tensors sqrt_kernel(const Call& call) {
  return unary(call, [](auto x) { return std::sqrt(x); });
}
Tensors exp_kernel(const Call& call) {
  return unary(call, [](auto x) { return std::exp(x); });
}
Tensors log_kernel(const Call& call) {
  return unary(call, [](auto x) { return std::log(x); });
}
Tensors neg_kernel(const Call& call) {
  return unary(call, [](auto x) { return -x; });
}
Tensors abs_kernel(const Call& call) {
  return unary(call, [](auto x) { return std::abs(x); });
}
Tensors clip_kernel(const Call& call) {
  const double low = call.attrs().f(Attr::min), high = call.attrs().f(Attr::max);
  return unary(call, [=](auto x) { return clamp(x, low, high); });
}
Tensors leaky_relu_kernel(const Call& call) {
  const double alpha = call.attrs().f(Attr::alpha);
  return unary(call, [=](auto x) { return x > 0 ? x : x * decltype(x)(alpha); });
}
Tensors hard_sigmoid_kernel(const Call& call) {
  const double alpha = call.attrs().f(Attr::alpha), beta = call.attrs().f(Attr::beta);
  return unary(call, [=](auto x) { return clamp(x * decltype(x)(alpha) + decltype(x)(beta), 0, 1); });
}
Tensors hard_swish_kernel(const Call& call) {
  return unary(call, [](auto x) { return hard_swish(x); });
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
    parallel(call.run, walk.rows(), walk.grain(), [&](int64_t begin, int64_t end) {
      walk.each(begin, end, [&](const auto& at) {
        for (int64_t i = 0; i < walk.length(); ++i) {
          to[at[0] + i] = choice[at[1] + i * walk.step(1)] ? a[at[2] + i * walk.step(2)] : b[at[3] + i * walk.step(3)];
        }
      });
    });
  });
  return {out};
}

}  // namespace rlgo::evaluate

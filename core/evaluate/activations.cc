// Functions of one float.
#include <cmath>
#include <numbers>

#include "core/evaluate/exponential.h"
#include "core/evaluate/loops.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;
using std::ceil, std::cos, std::exp, std::fabs, std::floor, std::log, std::rint, std::sin, std::sqrt, std::tanh;

double erf(double x) { return std::erf(x); }
// To 4e-7, by a rational function that a compiler vectorises: the minimax approximation of Eigen and XLA, odd
// coefficients over even ones. Beyond 4 it is 1.
float erf(float x) {
  x = x < -4 ? -4 : x > 4 ? 4 : x;
  const float y = x * x;
  float above = -2.72614225801306e-10F, below = -1.45660718464996e-05F;
  for (const float next : {2.77068142495902e-08F, -2.10102402082508e-06F, -5.69250639462346e-05F,
                           -7.34990630326855e-04F, -2.95459980854025e-03F, -1.60960333262415e-02F})
    above = above * y + next;
  for (const float next :
       {-2.13374055278905e-04F, -1.68282697438203e-03F, -7.37332916720468e-03F, -1.42647390514189e-02F})
    below = below * y + next;
  return x * above / below;
}
template <typename T>
T gelu(T x) {
  return x * T(0.5) * (T(1) + erf(x * T(std::numbers::sqrt2 / 2)));
}
template <typename T>
T gelu_by_tanh(T x) {
  constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return T(0.5) * x * (T(1) + std::tanh(T(kScale) * (x + T(0.044715) * x * x * x)));
}
template <typename T>
T clamp(T x, T low, T high) {  // a NaN stays one
  return x < low ? low : x > high ? high : x;
}
template <typename T>
T softplus(T x) {
  return (x < 0 ? T(0) : x) + std::log1p(std::exp(-std::abs(x)));
}

// relu_of(x) and so on.
#define RLGO_FUNCTION(name, onnx, since, writer, work, value) \
  template <typename T>                                       \
  T name##_of(T x) {                                          \
    return value;                                             \
  }
#include "core/ops/functions.def"
#undef RLGO_FUNCTION

// x, and below 0 factor * (exp(x * inner) - 1); times `outer`.
Tensors exponential_unit(const Call& call, double factor, double inner, double outer) {
  return unary(call, [=](auto x) {
    using T = decltype(x);
    return x <= 0 ? T(factor * outer) * std::expm1(x * T(inner)) : x * T(outer);
  });
}

using Many = void (*)(const double* from, int64_t count, double* to);
// Functions that have a form for many doubles at once; null: one by one.
constexpr Many many_of(ops::Op op) {
  return op == ops::Op::sigmoid ? sigmoids : op == ops::Op::exp ? exponentials : nullptr;
}

// f of each float of the first input; of doubles `many` at once where there is such a form.
template <typename F>
Tensors unary_at_once(const Call& call, Many many, F f) {
  const Tensor& x = call.in[0];
  if (many == nullptr || x.dtype() != ops::DType::f64) return unary(call, f);
  Tensor out = call.output();
  const double* from = x.data<double>();
  double* to = out.data<double>();
  parallel(call.run, x.elements(), kPiece,
           [=](int64_t begin, int64_t end) { many(from + begin, end - begin, to + begin); });
  return {out};
}

template <typename T, typename F>
void map_in_place(Tensor& x, const Run& run, F f) {
  map(run, x.data<T>(), x.data<T>(), x.elements(), f);
}

}  // namespace

void activate(Tensor& x, std::string_view act, const Run& run) {
  if (act == "none") return;
  visit_float(x.dtype(), [&]<typename T>() {
    if (act == "relu") return map_in_place<T>(x, run, [](auto v) { return relu_of(v); });
    if (act == "sigmoid") return map_in_place<T>(x, run, [](auto v) { return sigmoid_of(v); });
    if (act == "tanh") return map_in_place<T>(x, run, [](auto v) { return tanh_of(v); });
    if (act == "gelu") return map_in_place<T>(x, run, [](auto v) { return gelu(v); });
    if (act == "hard_swish") return map_in_place<T>(x, run, [](auto v) { return hard_swish_of(v); });
    fail("internal: no activation '{}' (this is a bug of rlgo)", act);
  });
}

#define RLGO_FUNCTION(name, ...)                                                             \
  Tensors name##_kernel(const Call& call) {                                                  \
    return unary_at_once(call, many_of(ops::Op::name), [](auto x) { return name##_of(x); }); \
  }
#include "core/ops/functions.def"
#undef RLGO_FUNCTION

Tensors gelu_kernel(const Call& call) {
  if (call.attrs().word(Attr::approximate) == "tanh") return unary(call, [](auto x) { return gelu_by_tanh(x); });
  return unary(call, [](auto x) { return gelu(x); });
}
Tensors clip_kernel(const Call& call) {
  const double low = call.attrs().f(Attr::min), high = call.attrs().f(Attr::max);
  return unary(call, [=](auto x) { return clamp(x, decltype(x)(low), decltype(x)(high)); });
}
Tensors leaky_relu_kernel(const Call& call) {
  const double alpha = call.attrs().f(Attr::alpha);
  return unary(call, [=](auto x) { return x > 0 ? x : x * decltype(x)(alpha); });
}
Tensors hard_sigmoid_kernel(const Call& call) {
  const double alpha = call.attrs().f(Attr::alpha), beta = call.attrs().f(Attr::beta);
  return unary(call, [=](auto x) {
    using T = decltype(x);
    return clamp(x * T(alpha) + T(beta), T(0), T(1));
  });
}
Tensors elu_kernel(const Call& call) { return exponential_unit(call, call.attrs().f(Attr::alpha), 1, 1); }
Tensors selu_kernel(const Call& call) {
  return exponential_unit(call, call.attrs().f(Attr::alpha), 1, call.attrs().f(Attr::gamma));
}
Tensors celu_kernel(const Call& call) {
  const double alpha = call.attrs().f(Attr::alpha);
  return exponential_unit(call, alpha, 1 / alpha, 1);
}
Tensors swish_kernel(const Call& call) {
  const double alpha = call.attrs().f(Attr::alpha);
  return unary(call, [=](auto x) { return x * sigmoid_of(x * decltype(x)(alpha)); });
}
Tensors thresholded_relu_kernel(const Call& call) {
  const double alpha = call.attrs().f(Attr::alpha);
  return unary(call, [=](auto x) { return x > decltype(x)(alpha) ? x : decltype(x)(0); });
}

}  // namespace rlgo::evaluate

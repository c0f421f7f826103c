#include "core/evaluate/exponential.h"

#include <bit>
#include <numbers>

namespace rlgo::evaluate {
namespace {

constexpr double kShift = 0x1.8p52;  // added to a small number, it leaves its nearest integer in the low bits

// 2^k of an integer in [-1022, 1023].
[[gnu::always_inline]] inline double power(double k) {
  return std::bit_cast<double>((std::bit_cast<uint64_t>(k + kShift) << 52) + std::bit_cast<uint64_t>(1.0));
}

// exp(x) = 2^k exp(r) with |r| <= log(2) / 2, exp(r) by its series. Arithmetic alone, which a compiler vectorises.
[[gnu::always_inline]] inline double exponential(double x) {
  constexpr double kHigh = 0x1.62e42fefa38p-1,
                   kLow = 0x1.ef35793c7673p-45;  // log(2) = kHigh + kLow; k * kHigh is exact
  const double above = x < -746 ? -746 : x, inside = above > 710 ? 710 : above;  // a NaN stays one
  const double k = inside * std::numbers::log2e + kShift - kShift, r = inside - k * kHigh - k * kLow;
  constexpr double kSeries[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
      1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
  double sum = 1.0 / 6227020800;
#pragma GCC unroll 16
  for (int i = 0; i < 13; ++i) sum = sum * r + kSeries[i];
  const double half = k * 0.5 + kShift - kShift;  // 2^k alone may be no number where 2^k exp(r) is one
  return sum * power(half) * power(k - half);
}

struct Kernels {
  void (*exponentials)(const double*, int64_t, double*);
  void (*sigmoids)(const double*, int64_t, double*);
};

#define RLGO_KERNELS(NAME, TARGET)                                              \
  TARGET void exponentials_##NAME(const double* x, int64_t count, double* to) { \
    for (int64_t i = 0; i < count; ++i) to[i] = exponential(x[i]);              \
  }                                                                             \
  TARGET void sigmoids_##NAME(const double* x, int64_t count, double* to) {     \
    for (int64_t i = 0; i < count; ++i) to[i] = 1 / (1 + exponential(-x[i]));   \
  }
RLGO_KERNELS(base, )
#if defined(__x86_64__)
RLGO_KERNELS(avx512, __attribute__((target("avx512f,avx512dq,fma,prefer-vector-width=512"))))
#endif
#undef RLGO_KERNELS

Kernels best() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma"))
    return {exponentials_avx512, sigmoids_avx512};
#endif
  return {exponentials_base, sigmoids_base};
}

const Kernels& kernels() {
  static const Kernels chosen = best();
  return chosen;
}

}  // namespace

void exponentials(const double* x, int64_t count, double* to) { kernels().exponentials(x, count, to); }
void sigmoids(const double* x, int64_t count, double* to) { kernels().sigmoids(x, count, to); }

}  // namespace rlgo::evaluate

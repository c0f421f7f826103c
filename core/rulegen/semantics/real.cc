#include "core/rulegen/semantics/real.h"

#include <cmath>
#include <numeric>
#include <optional>

#include "core/rulegen/semantics/rational.h"

namespace rlgo::rulegen {
namespace {

constexpr double kRounding = 0x1p-22;
constexpr double kLargest = 0x1p31;

Real fraction(double num, double den) {
  Real real;
  real.num = static_cast<int64_t>(num);
  real.den = static_cast<int64_t>(den);
  const int64_t common = std::gcd(real.num, real.den);
  real.num /= common;
  real.den /= common;
  real.value = num / den;
  return real;
}

bool is_float(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

std::optional<Real> small_fraction(double value, double tolerance) {
  for (int den = 1; den <= 64; ++den) {
    const double num = std::round(value * den);
    if (std::abs(num) < kLargest && num != 0 && std::abs(num / den - value) <= tolerance * std::abs(value)) {
      return fraction(num, den);
    }
  }
  return std::nullopt;
}

std::optional<Real> decimal(double value) {
  double power = 1;
  for (int digits = 1; digits <= 12; ++digits) {
    power *= 10;
    const double num = std::round(value * power);
    if (std::abs(num) > 99999) return std::nullopt;
    if (num == 0) continue;
    const double nearest = num / power;
    if (nearest == value || (is_float(value) && static_cast<double>(static_cast<float>(nearest)) == value)) {
      return fraction(num, power);
    }
  }
  return std::nullopt;
}

// sqrt(num / den) = sqrt(num * den) / den, square factors moved in front.
Real root_of(const Real& square, double value) {
  Real real;
  real.num = value < 0 ? -1 : 1;
  real.den = square.den;
  real.root = square.num * square.den;
  for (int64_t factor = 2; factor * factor <= real.root; ++factor) {
    while (real.root % (factor * factor) == 0) {
      real.root /= factor * factor;
      real.num *= factor;
    }
  }
  const int64_t common = std::gcd(real.num, real.den);
  real.num /= common;
  real.den /= common;
  real.value =
      static_cast<double>(real.num) / static_cast<double>(real.den) * std::sqrt(static_cast<double>(real.root));
  return real;
}

// As it stands, where both numbers fit.
std::optional<Real> dyadic(double value) {
  int exponent = 0;
  auto num = static_cast<int64_t>(std::frexp(value, &exponent) * 0x1p53);
  exponent -= 53;
  for (; num % 2 == 0 && exponent < 0; ++exponent) num /= 2;
  if (exponent > 9 || exponent < -62) return std::nullopt;
  Real real;
  real.num = exponent > 0 ? num * (int64_t{1} << exponent) : num;
  real.den = exponent < 0 ? int64_t{1} << -exponent : 1;
  real.value = value;
  return real;
}

// 1 / c of a float c, rounded to double: what rules compute that turn quotients into products.
std::optional<Real> reciprocal(double value) {
  const double inverse = static_cast<double>(static_cast<float>(1 / value));
  if (is_float(value) || 1 / inverse != value) return std::nullopt;
  Real real = real_of(inverse);
  Rational::Wide den = static_cast<Rational::Wide>(real.num) * real.root;  // 1 / (n / d sqrt r) = d / (n r) sqrt r
  const Rational flipped = Rational::of(real.den, den);
  if (!real.exact || flipped.overflow) return std::nullopt;
  real.num = flipped.num;
  real.den = flipped.den;
  real.value = value;
  return real;
}

}  // namespace

Real real_of(double value) {
  Real opaque;
  opaque.exact = false;
  opaque.value = value;
  if (!std::isfinite(value)) return opaque;
  if (value == 0) return {};
  const double scaled = value * 0x1p20;
  if (std::abs(value) < kLargest && scaled == std::round(scaled)) return fraction(scaled, 0x1p20);
  if (const auto near = small_fraction(value, kRounding)) return *near;
  if (const auto near = decimal(value)) return *near;
  const auto square = small_fraction(value * value, 2 * kRounding);
  if (square && square->num <= 64) return root_of(*square, value);
  constexpr double kRootTwoOverPi = 0.79788456080286535588;
  if (std::abs(std::abs(value) - kRootTwoOverPi) <= kRounding) {
    opaque.value = value < 0 ? -kRootTwoOverPi : kRootTwoOverPi;
    return opaque;
  }
  if (const auto inverse = reciprocal(value)) return *inverse;
  return dyadic(value).value_or(opaque);
}

}  // namespace rlgo::rulegen

// Exact fractions that report when they grow too large.
#pragma once

#include <cstdint>
#include <numeric>

namespace rlgo::rulegen {

// num / den, den > 0, without common factors. An operation whose result does not fit 64 bits gives `overflow`.
struct Rational {
  int64_t num = 0;
  int64_t den = 1;
  bool overflow = false;

  bool is_zero() const { return num == 0 && !overflow; }
  bool operator==(const Rational&) const = default;

  __extension__ using Wide = __int128;
  static Rational of(Wide num, Wide den) {  // num / den in lowest terms; failed where that needs more than 64 bits
    if (den < 0) num = -num, den = -den;
    Wide a = num < 0 ? -num : num, b = den;
    while (b != 0) {
      const Wide rest = a % b;
      a = b, b = rest;
    }
    num /= a, den /= a;
    constexpr Wide kMost = INT64_MAX;
    if (num > kMost || num < -kMost || den > kMost) return {0, 1, true};
    return {static_cast<int64_t>(num), static_cast<int64_t>(den), false};
  }
  friend Rational operator+(const Rational& a, const Rational& b) {
    if (a.overflow || b.overflow) return {0, 1, true};
    if (a.den == 1 && b.den == 1) return of(static_cast<Wide>(a.num) + b.num, 1);
    const int64_t common = std::gcd(a.den, b.den);
    Wide left = 0, right = 0, sum = 0;
    if (__builtin_mul_overflow(static_cast<Wide>(a.num), static_cast<Wide>(b.den / common), &left) ||
        __builtin_mul_overflow(static_cast<Wide>(b.num), static_cast<Wide>(a.den / common), &right) ||
        __builtin_add_overflow(left, right, &sum)) {
      return {0, 1, true};
    }
    return of(sum, static_cast<Wide>(a.den) * (b.den / common));
  }
  friend Rational operator*(const Rational& a, const Rational& b) {
    if (a.overflow || b.overflow) return {0, 1, true};
    return of(static_cast<Wide>(a.num) * b.num, static_cast<Wide>(a.den) * b.den);
  }
  Rational negated() const { return {-num, den, overflow}; }
  // *this != 0
  Rational inverse() const { return num < 0 ? Rational{-den, -num, overflow} : Rational{den, num, overflow}; }
  // -1, 0, 1 of a - b.
  static int compare(const Rational& a, const Rational& b) {
    const Wide left = static_cast<Wide>(a.num) * b.den, right = static_cast<Wide>(b.num) * a.den;
    return left < right ? -1 : left > right ? 1 : 0;
  }
};

}  // namespace rlgo::rulegen

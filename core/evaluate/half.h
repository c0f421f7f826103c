// The 16-bit float types, stored; arithmetic on them is done in float and rounded once.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace rlgo::evaluate {

// A sign, an exponent and kMantissa bits, with the smallest normal exponent kLeast.
template <int kMantissa, int kLeast>
struct SmallFloat {
  uint16_t bits = 0;

  SmallFloat() = default;
  // To the nearest, of two the even one, straight from double.
  explicit SmallFloat(double value) : bits(rounded(value)) {}
  explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }
  explicit operator double() const {
    const int magnitude = bits & 0x7fff, exponent = magnitude >> kMantissa;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (magnitude >= kInfinity) return sign * (magnitude == kInfinity ? __builtin_inf() : __builtin_nan(""));
    const int fraction = magnitude & ((1 << kMantissa) - 1);
    if (exponent == 0) return sign * fraction * power(kLeast - kMantissa);
    return sign * (fraction + (1 << kMantissa)) * power(exponent - 1 + kLeast - kMantissa);
  }

 private:
  static constexpr int kInfinity = 0x7fff >> kMantissa << kMantissa;
  static double power(int exponent) { return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52); }
  static uint16_t rounded(double value) {
    const auto raw = std::bit_cast<uint64_t>(value);
    const auto sign = static_cast<int>(raw >> 63) << 15;
    if (value != value) return static_cast<uint16_t>(sign | kInfinity | 1 << (kMantissa - 1));
    int exponent = static_cast<int>(raw >> 52 & 0x7ff) - 1023;
    if (exponent > -kLeast + 1) return static_cast<uint16_t>(sign | kInfinity);
    exponent = exponent < kLeast ? kLeast : exponent;
    const double magnitude = std::bit_cast<double>(raw & ~(uint64_t{1} << 63));
    const double steps = magnitude * power(kMantissa - exponent);  // exact: a power of two
    const double whole = (steps + 0x1p52) - 0x1p52;                // the processor's rounding
    // The leading 1 of a normal number carries into the exponent, as rounding up to a power of two does.
    const int encoded = ((exponent - kLeast) << kMantissa) + static_cast<int>(whole);
    return static_cast<uint16_t>(sign | (encoded < kInfinity ? encoded : kInfinity));
  }
};

using Half = SmallFloat<10, -14>;
using BFloat = SmallFloat<7, -126>;

// What arithmetic on a stored type is done in: float for the 16-bit ones, else itself.
template <typename T>
struct ArithOf {
  using type = T;
};
// 16-bit floats.
template <int kMantissa, int kLeast>
struct ArithOf<SmallFloat<kMantissa, kLeast>> {
  using type = float;
};
// The same as a type.
template <typename T>
using Arith = typename ArithOf<T>::type;

}  // namespace rlgo::evaluate

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
  // Its bits stand where those of a float do, but for the origin of the exponent.
  explicit operator float() const {
    const uint32_t magnitude = (bits & 0x7fffU) << (23 - kMantissa), sign = (bits & 0x8000U) << 16;
    const float value = std::bit_cast<float>(magnitude) * std::bit_cast<float>(uint32_t{127 + 126 + kLeast} << 23);
    const uint32_t whole = (bits & 0x7fff) >= kInfinity ? magnitude | 0x7f800000U : std::bit_cast<uint32_t>(value);
    return std::bit_cast<float>(whole | sign);
  }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }

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

// Arithmetic in the prime field of p = 2^61 - 1.
#pragma once

#include <cstdint>

namespace rlgo::rulegen {

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

// All arguments and results are in [0, p).
constexpr uint64_t prime_add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}
constexpr uint64_t prime_neg(uint64_t a) { return a == 0 ? 0 : kPrime - a; }
constexpr uint64_t prime_mul(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const uint64_t sum = (static_cast<uint64_t>(product) & kPrime) + static_cast<uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}
constexpr uint64_t prime_pow(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = prime_mul(base, base)) {
    if (exponent & 1) result = prime_mul(result, base);
  }
  return result;
}
// 0 for 0.
constexpr uint64_t prime_inverse(uint64_t a) { return prime_pow(a, kPrime - 2); }
// Image of an integer.
constexpr uint64_t prime_of(int64_t value) {
  const uint64_t magnitude =
      (value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value)) % kPrime;
  return value < 0 ? prime_neg(magnitude) : magnitude;
}

}  // namespace rlgo::rulegen

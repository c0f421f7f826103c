// Powers that are spelled out by products, quotients and roots.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "core/rulegen/semantics/rational.h"
#include "core/rulegen/semantics/ring_prime.h"

namespace rlgo::rulegen {

// base^n, |n| products.
template <class Ring>
typename Ring::Element whole_power(Ring& ring, const typename Ring::Element& base, int64_t n) {
  auto result = ring.integer(1);
  for (int64_t k = 0; k < std::abs(n); ++k) result = ring.mul(result, base);
  return n < 0 ? ring.div(ring.integer(1), result) : result;
}

// base^exponent in an exact ring: whole powers up to the eighth, and these times a square root, a fourth root, or both.
// Nothing for others. The exponent is a copy, as what is computed here may move what the ring holds.
template <class Ring>
std::optional<typename Ring::Element> spelled_power(Ring& ring, const typename Ring::Element& base,
                                                    std::optional<Rational> exponent) {
  constexpr int64_t kMostPower = 8;
  if (!exponent || 4 % exponent->den != 0 || std::abs(exponent->num) > exponent->den * kMostPower) return std::nullopt;
  if (exponent->den == 1) return whole_power(ring, base, exponent->num);
  const int64_t quarters = std::abs(exponent->num) * (4 / exponent->den);
  auto power = whole_power(ring, base, quarters / 4);
  const auto root = ring.apply(Fn::sqrt, base);
  if (quarters % 4 >= 2) power = ring.mul(power, root);
  if (quarters % 2 == 1) power = ring.mul(power, ring.apply(Fn::sqrt, root));
  return exponent->num < 0 ? ring.div(ring.integer(1), power) : power;
}

}  // namespace rlgo::rulegen

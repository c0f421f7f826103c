// The prime ring: numbers as their images in F_p, together with what decides their order and their exponentials.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/rulegen/semantics/prime.h"

namespace rlgo::rulegen {

// The non-polynomial functions of one argument that rings know; the evaluator builds all others from them. Of those
// from `ceil` on no laws are known.
enum class Fn : uint8_t { exp, log, sqrt, erf, tanh, sigmoid, softplus, ceil, floor, round, sign, sin, cos };
const char* fn_name(Fn fn);
double fn_of(Fn fn, double x);
constexpr bool has_laws(Fn fn) { return fn < Fn::ceil; }

// Order of the group that exponentials live in: 41 * 151 * 331 * 1321 divides p - 1.
constexpr uint64_t kExponents = 41ull * 151 * 331 * 1321;

// One real number x, three ways.
struct PrimeValue {
  uint64_t field = 0;  // its image in F_p: decides equality
  double real = 0;     // approximately x: decides relu, max, clip, as residues have no order
  uint64_t exponent =
      0;  // its image in Z / kExponents: exp(x + y) = exp(x) exp(y) holds exactly (after Mirage, OSDI 2025)
};

// Sums, products and quotients are exact images; exp is a homomorphism, sigmoid and tanh are built on it; sqrt is the
// power map a^((p+1)/4), multiplicative; log, softplus (softplus(x) = x + softplus(-x)), erf (odd) and the functions
// without laws are seeded hashes of the field element. log(exp(x)), log(1 + exp(x)) = softplus(x), log(exp(x) y) =
// x + log(y), log(1 / y) = -log(y) for y > 0 and tanh(log(x)) are recognised, of numbers that the ring has met. Two
// values that are equal by the laws of fields, of exp and of the order of the reals are equal here; others differ but
// for a chance of about 2^-31 a comparison (Schwartz-Zippel). Division by zero and roots of negative numbers: `real` is
// not finite.
class PrimeRing {
 public:
  using Element = PrimeValue;

  explicit PrimeRing(uint64_t seed = 0) : seed_(mix64(seed)) {}

  Element zero() const { return {}; }
  Element integer(int64_t value) const;  // this number in field and reals
  // den != 0
  Element ratio(int64_t num, int64_t den);
  Element number(double value);
  // A free number: n * 2^-22 with the whole n given, |n| < 2^40.
  Element free(int64_t n);

  Element add(const Element& a, const Element& b) const {  // arithmetic of the field, next to it of the reals
    const uint64_t e = a.exponent + b.exponent;
    return {prime_add(a.field, b.field), a.real + b.real, e >= kExponents ? e - kExponents : e};
  }
  Element neg(const Element& a) const {  // -a
    return {prime_neg(a.field), -a.real, a.exponent == 0 ? 0 : kExponents - a.exponent};
  }
  Element sub(const Element& a, const Element& b) const { return add(a, neg(b)); }
  Element mul(const Element& a, const Element& b) const {  // a * b
    return {prime_mul(a.field, b.field), a.real * b.real, a.exponent * b.exponent % kExponents};
  }
  Element div(const Element& a, const Element& b);  // division and the rest: functions of the field's elements, by hash
  Element maximum(std::span<const Element> items);
  Element minimum(std::span<const Element> items);
  Element apply(Fn fn, const Element& x);
  Element power(const Element& base, const Element& exponent);
  // The whole number that x is.
  std::optional<int64_t> whole(const Element& x) const;
  bool equal(const Element& a, const Element& b) const { return a.field == b.field; }

  // Sums of products: conv2d, matmul, reductions.
  class Sum {
   public:
    explicit Sum(PrimeRing&) {}
    void add(const Element& a) {
      wide_ += a.field;
      real_ += a.real;
      exponent_ += a.exponent;
      step();
    }
    void add_product(const Element& a, const Element& b) {  // a * b
      wide_ += static_cast<Wide>(a.field) * b.field;
      real_ += a.real * b.real;
      exponent_ += a.exponent * b.exponent % kExponents;
      step();
    }
    Element finish() {  // once
      reduce();
      return {static_cast<uint64_t>(wide_), real_, exponent_ % kExponents};
    }

   private:
    __extension__ using Wide = unsigned __int128;
    void step() {
      if (++count_ == 32) reduce();  // 32 * 2^122 + 2^61 < 2^128
    }
    void reduce() {
      wide_ = (wide_ & kPrime) + (wide_ >> 61);
      wide_ = (wide_ & kPrime) + (wide_ >> 61);
      while (wide_ >= kPrime) wide_ -= kPrime;
      count_ = 0;
    }
    Wide wide_ = 0;
    double real_ = 0;
    uint64_t exponent_ = 0;
    int count_ = 0;
  };

  // Draw other inputs: an order was asked of numbers that are too near to distinguish but not equal.
  bool ambiguous() const { return ambiguous_; }
  // An index named no element: what was evaluated has no value.
  bool no_element() const { return no_element_; }
  void note_no_element() { no_element_ = true; }

 private:
  Element opaque(uint64_t code, uint64_t field, double real) const;
  Element root(const Element& x) const;
  Element softplus(const Element& x);
  Element logarithm(const Element& x);
  Element logarithm_in_coset(const Element& x);
  std::optional<Element> exponent_of(uint64_t field) const;
  void note_order(const Element& a, const Element& b);

  uint64_t seed_;
  bool ambiguous_ = false, no_element_ = false;
  std::map<std::pair<int64_t, int64_t>, Element> ratios_;
  std::unordered_map<uint64_t, Element> exp_of_;  // what was exponentiated, by the field element that came of it
  std::unordered_map<uint64_t, Element> log_of_;  // what a logarithm was taken of, likewise
  std::unordered_map<uint64_t, Element> logs_;    // logarithms, by the field element that they were taken of
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, Element>>>
      cosets_;  // and by its multiples of exponentials
};

}  // namespace rlgo::rulegen

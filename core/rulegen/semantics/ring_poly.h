// The exact ring: canonical polynomials with rational coefficients over variables and uninterpreted functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/rulegen/semantics/rational.h"
#include "core/rulegen/semantics/ring_prime.h"

namespace rlgo::rulegen {

// Elements are numbers of interned polynomials: two are equal exactly where their numbers are. What makes unequal
// things equal beyond polynomial arithmetic:
//   maximum   is a set, flattened; shifts and positive rational factors move out (relu(2x - y) = 2 max(x, y/2) - y)
//   exp       exp(p) is a factor of a monomial: exp(p) exp(q) = exp(p + q)
//   1 / p     one term: negative exponents; more: an atom of p with its leading term (of an order that products keep)
//             divided out, so that softmax does not see a shift; of quotients, as of their product with the divisors
//   tanh, erf odd; sigmoid(-p) = 1 - sigmoid(p); softplus(p) = p + softplus(-p); all four commute with maximum
//   log(exp(p)) = p, log(1 + exp(p)) = softplus(p), tanh(log(p)) = (p^2 - 1) / (p^2 + 1)
//   log(exp(p) q) = p + log(q), log(1 / q) = -log(q), for q of exponentials alone, which is positive
// Equal numbers mean equal functions. Unequal ones need not differ: relu(x) relu(x) = x relu(x) is not seen, nor is
// (p / q) q = p for a q of several terms.
class PolyRing {
 public:
  using Element = int32_t;

  // Gives up (failed() becomes true, results are meaningless from then on) beyond so many terms in all polynomials.
  explicit PolyRing(int64_t most_terms = 2'000'000);
  ~PolyRing();

  // The same key is the same variable.
  Element variable(uint64_t key);
  Element zero() const { return 0; }
  Element integer(int64_t value) { return constant({value, 1, false}); }
  Element ratio(int64_t num, int64_t den) { return constant(Rational::of(num, den)); }
  // Numbers that are no fraction (real_of) are constants without known value.
  Element number(double value);
  Element add(Element a, Element b);
  Element neg(Element a) { return scaled(a, {-1, 1, false}); }
  Element sub(Element a, Element b) { return add(a, neg(b)); }
  Element mul(Element a, Element b);
  Element div(Element a, Element b);
  Element maximum(std::span<const Element> items);
  Element minimum(std::span<const Element> items);
  Element apply(Fn fn, Element x);
  Element power(Element base, Element exponent);
  std::optional<int64_t> whole(Element x) const;
  bool equal(Element a, Element b) const { return a == b; }

  bool failed() const { return failed_; }
  int64_t terms() const { return terms_total_; }
  // "3/2 v1 v2^2 - exp(v0)", shortened.
  std::string to_text(Element element) const;

  class Sum {  // of many terms, put in order once
   public:
    explicit Sum(PolyRing& ring) : ring_(ring) {}
    void add(Element a);
    void add_product(Element a, Element b);  // a * b
    Element finish();                        // once

   private:
    PolyRing& ring_;
    std::unordered_map<int32_t, Rational> coefficients_;  // by monomial
  };

 private:
  struct Term {
    int32_t mono;
    Rational c;
    bool operator==(const Term&) const = default;
  };
  using Poly = std::vector<Term>;  // by monomial number
  struct Mono {
    std::vector<std::pair<int32_t, int32_t>> powers;  // (atom, exponent != 0), by atom
    Element exp = 0;                                  // times exp of this polynomial
    bool operator==(const Mono&) const = default;
  };
  // Set: of a maximum. Inverse: the polynomial itself, met with negative exponents only.
  enum class Kind : uint8_t { variable, constant, function, power, maximum, inverse };
  struct Atom {
    Kind kind;
    uint64_t key;  // variable's key, constant's bits, function's Fn
    std::vector<Element> args;
    bool operator==(const Atom&) const = default;
  };

  Element constant(const Rational& value);
  Element intern(Poly poly);
  int32_t intern(Mono mono);
  int32_t intern(Atom atom);
  Element of_mono(int32_t mono, const Rational& c);
  Element of_atom(Atom atom);
  Element scaled(Element a, const Rational& by);
  int32_t mono_product(int32_t a, int32_t b);
  int32_t mono_inverse(int32_t a);
  bool mono_less(int32_t a, int32_t b);
  Term leading(Element a);
  // a = rest + factor * maximum of `set`, where exactly one maximum stands in `a`, alone in its term.
  struct Peak {
    Element rest;
    Rational factor;
    int32_t atom;
  };
  std::optional<Peak> peak(Element a);
  std::optional<std::pair<Element, int64_t>> take_root(Element b);
  std::optional<std::pair<int32_t, int32_t>> inverse_in(Element a) const;
  Element cleared(Element a, int32_t inverse, int32_t power);
  Element distribute(Fn fn, const Peak& peak);
  std::optional<Element> exponent_of(Element a) const;
  std::optional<Element> logarithm_of(Element a);
  bool of_exponentials(Element a) const;
  Element logarithm(Element x);
  Element softplus(Element x);
  std::optional<Rational> constant_value(Element a) const;
  Element canonical_maximum(std::vector<Element> set);
  Rational content(std::span<const Element> set) const;
  std::string mono_text(int32_t mono) const;

  std::vector<Poly> polys_;
  std::vector<Mono> monos_;
  std::vector<Atom> atoms_;
  std::unordered_multimap<uint64_t, int32_t> poly_index_, mono_index_, atom_index_;
  std::unordered_map<uint64_t, int32_t> products_;  // of monomials
  int64_t most_terms_;
  int64_t terms_total_ = 0;
  bool failed_ = false;
};

}  // namespace rlgo::rulegen

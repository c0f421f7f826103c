// Terms of Z3 as a ring: real arithmetic with order, and facts about functions that polynomials do not know.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/rulegen/semantics/ring_prime.h"

namespace rlgo::rulegen {

// Elements are numbers of terms over real variables. Sums, products and quotients are Z3's, a maximum is a case
// distinction, functions are uninterpreted ones about which only these facts are asserted, for the arguments that
// occur:
//   sqrt      for x >= 0: not negative, its square is x; sqrt(a * a) = |a|
//   exp, log, sqrt, erf, tanh, sigmoid, softplus rise strictly; softplus(x) = x + softplus(-x) > 0
//   exp > 0, exp(0) = 1;  log(1) = 0;  0 < sigmoid < 1, sigmoid(0) = 1/2;  -1 < tanh, erf < 1, of the sign of x
//   sigmoid(x) = 1 / (exp(-x) + 1)
//   pow(x, n) for whole |n| <= 8 is a product, pow(x, 1/2) a root; other powers have no facts
// What is proved equal is equal for all real inputs where the left side has a value; what is not may be equal still.
class Z3Ring {
 public:
  using Element = int32_t;
  enum class Answer : uint8_t { equal, open };  // open: not proved (a difference, a missing fact, or the limit)

  // Gives up (failed()) beyond so many terms. `effort` bounds a question in Z3's own resource units, not in time: the
  // answer does not depend on the machine.
  explicit Z3Ring(int64_t most_terms = 20'000, unsigned effort = 3'000'000);
  ~Z3Ring();

  // The same key is the same variable.
  Element variable(uint64_t key) { return variable(key, false); }
  Element zero() const { return 0; }
  Element integer(int64_t value) { return ratio(value, 1); }
  Element ratio(int64_t num, int64_t den);
  // Numbers that are no fraction (real_of) are positive unknowns, or their negatives.
  Element number(double value);
  Element add(Element a, Element b);
  Element neg(Element a);
  Element sub(Element a, Element b);
  Element mul(Element a, Element b);
  Element div(Element a, Element b);
  Element maximum(std::span<const Element> items);
  Element minimum(std::span<const Element> items);
  Element apply(Fn fn, Element x);
  Element power(Element base, Element exponent);
  std::optional<int64_t> whole(Element x) const;
  bool equal(Element a, Element b) const { return a == b; }

  // Whether b has a value and equals a wherever a has one. Pairs that differ in the names of variables are asked once.
  // Throws Error where Z3 itself fails.
  Answer prove_equal(Element a, Element b);

  bool failed() const { return failed_; }
  // Whether a question was left open because it took more than `effort`.
  bool gave_up() const { return gave_up_; }

  class Sum {  // as the other rings have it
   public:
    explicit Sum(Z3Ring& ring) : ring_(ring) {}
    void add(Element a) { sum_ = ring_.add(sum_, a); }
    void add_product(Element a, Element b) { sum_ = ring_.add(sum_, ring_.mul(a, b)); }
    Element finish() { return sum_; }

   private:
    Z3Ring& ring_;
    Element sum_ = 0;
  };

 private:
  struct Terms;  // Z3's side
  Element variable(uint64_t key, bool positive);
  Element extremum(std::span<const Element> items, bool largest);

  std::unique_ptr<Terms> terms_;
  std::map<uint64_t, Element> variables_;
  int64_t most_terms_;
  bool failed_ = false, gave_up_ = false;
};

}  // namespace rlgo::rulegen

// Symbolic extents: polynomials with integer coefficients over named symbols and opaque terms (rounded-down quotients,
// broadcast extents, windows), interned: equal polynomials have equal numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/small_vector.h"

namespace rlgo::rulegen::sym {

using ExtentId = int32_t;  // index in a ExtentPool

// What the prover cannot express: the rule's verdict becomes unknown, with this reason. Never leaves prove().
struct Untranslatable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Atom {                                                     // what is no polynomial of others
  enum class Kind : uint8_t { symbol, quotient, joint, opaque };  // see the fields
  Kind kind = Kind::symbol;
  std::string name;            // symbol, opaque
  std::vector<ExtentId> args;  // quotient: numerator, denominator; joint: sorted members; opaque: arguments
  int64_t least = 1;           // symbol, opaque: lower bound for certain
};

using Monomial = SmallVector<int32_t, 4>;  // sorted atoms, repeated for powers; empty: 1
struct Summand {
  Monomial atoms;
  int64_t factor = 0;
};
using Sum = std::vector<Summand>;  // sorted by monomial, no factor is 0

// Not thread safe; results depend on the order of calls only through numbering.
class ExtentPool {
 public:
  ExtentPool();
  ExtentId number(int64_t value);  // the polynomial that is this number
  // The same name is the same symbol; `least` counts where it is first named.
  ExtentId symbol(const std::string& name, int64_t least);
  ExtentId add(ExtentId a, ExtentId b);
  ExtentId sub(ExtentId a, ExtentId b);
  ExtentId mul(ExtentId a, ExtentId b);
  // floor(a / b); what divides exactly is divided. b must not be the number 0.
  ExtentId quotient(ExtentId a, ExtentId b);
  // The extent that sorted, distinct members (no 1, no joints) broadcast to.
  ExtentId joint(std::vector<ExtentId> members);
  ExtentId opaque(const std::string& name, std::vector<ExtentId> args, int64_t least);

  std::optional<int64_t> value(ExtentId a) const;  // where it is a number
  // References stay valid for the pool's life.
  const Sum& sum(ExtentId a) const { return sums_[static_cast<size_t>(a)]; }
  const Atom& atom(int32_t index) const { return atoms_[static_cast<size_t>(index)]; }
  // The atom that this is, or -1.
  int32_t as_atom(ExtentId a) const;
  ExtentId of_atom(int32_t index);
  ExtentId intern(Sum sum);  // any order, repeated monomials
  bool mentions(ExtentId a, int32_t atom) const;
  std::string text(ExtentId a) const;

 private:
  int32_t intern_atom(Atom atom);
  ExtentId intern_sorted(Sum sum);  // sorted, no monomial twice, no factor 0
  ExtentId combined(ExtentId a, ExtentId b, int64_t sign);
  void grow();
  std::optional<Sum> exact_quotient(Sum rest, const Sum& divisor) const;

  std::deque<Sum> sums_;
  std::vector<uint64_t> hashes_;  // of sums_
  std::vector<ExtentId> slots_;   // open addressing by hash; -1: free
  std::deque<Atom> atoms_;
  std::vector<ExtentId> of_atom_;  // -1: not made yet
  std::vector<ExtentId> small_;    // numbers 0, 1, ..
  std::unordered_map<std::string, ExtentId> symbol_of_;
  std::map<std::pair<std::string, std::vector<ExtentId>>, int32_t> atom_of_;
};

// Whether `part` is contained in `whole`; `rest` gets what is left.
bool divides(const Monomial& part, const Monomial& whole, Monomial* rest);
// Graded order: more atoms first, then lexicographic.
bool graded_less(const Monomial& a, const Monomial& b);

}  // namespace rlgo::rulegen::sym

// Extents of tensors as functions of a model's open sizes: polynomials with integer coefficients over symbols (open
// dimensions) and opaque terms (rounded-down quotients, windows that round up, broadcast extents, ...).
//
// Equal normal forms are equal at every size. Answers are three-valued: what cannot be decided for all sizes is not
// decided. Symbols of a model's inputs stand for sizes >= 1; all terms are >= 0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rlgo::ops {

class Extent;
using Extents = std::vector<Extent>;

// What polynomials are made of. Immutable and shared; compared by contents.
struct ExtentAtom {
  enum class Kind : uint8_t {
    symbol,    // numbers: [id]
    quotient,  // floor(args[0] / args[1])
    joint,     // what the (sorted, distinct) args broadcast to
    window,    // windows rounded up: args [extent], numbers [pad_begin, pad_end, window, stride, dilation]
    scaled,    // floor(args[0] * scale), numbers: [bits of the scale, a double]
  };
  Kind kind = Kind::symbol;
  std::vector<Extent> args;
  std::vector<int64_t> numbers;
  int64_t least = 0;   // a lower bound at all sizes, >= 0
  int64_t sample = 0;  // value at the sample sizes
  uint64_t hash = 0;   // of kind, args and numbers
};

class Extent {  // a value; immutable
 public:
  using Atom = std::shared_ptr<const ExtentAtom>;
  struct Term {
    std::vector<Atom> atoms;  // sorted, repeated for powers; never empty
    int64_t factor = 0;       // never 0
  };
  // Value of a symbol at some sizes; nothing where it is not known.
  using SizeOf = std::function<std::optional<int64_t>(int64_t id, int64_t sample)>;

  Extent() = default;
  Extent(int64_t number) : number_(number) {}  // NOLINT: numbers are extents
  static Extent symbol(int64_t id, int64_t sample, int64_t least);
  // Nothing is known of it, not even that it equals itself: overflow, division by zero, too many terms.
  static Extent undecided();

  bool is_undecided() const { return undecided_; }
  bool is_number() const { return terms_.empty() && !undecided_; }
  std::optional<int64_t> number() const { return is_number() ? std::optional(number_) : std::nullopt; }
  int64_t sample() const;  // at the sample sizes; 0 where undecided
  std::optional<int64_t> at(const SizeOf& size_of) const;
  const std::vector<Term>& terms() const { return terms_; }
  int64_t constant_term() const { return number_; }
  std::string text() const;  // "2*s0*s1 + (s0 / 2) - 1"

  // Certain for all sizes; false means "not certain". An undecided extent fulfils neither.
  bool same(const Extent& other) const;
  bool at_least(int64_t bound) const;

  friend Extent operator+(const Extent& a, const Extent& b);
  friend Extent operator-(const Extent& a, const Extent& b);
  friend Extent operator*(const Extent& a, const Extent& b);

 private:
  friend std::optional<Extent> divide_exactly(const Extent& a, const Extent& b);
  friend Extent floor_quotient(const Extent& a, const Extent& b);
  static Extent of_atom(ExtentAtom atom);
  static Extent sum(std::vector<Term> terms, int64_t number);
  Extent scaled_by(int64_t factor) const;
  Extent shifted() const;
  bool at_least(int64_t bound, int depth) const;

  friend Extent joint(std::span<const Extent> members);
  friend Extent window_up(const Extent& extent, std::vector<int64_t> numbers);
  friend Extent scaled_extent(const Extent& extent, double scale);
  friend Extent known_at_least(const Extent& extent, int64_t bound);

  std::vector<Term> terms_;  // in graded order, largest first
  int64_t number_ = 0;
  bool undecided_ = false;
};

// a / b without rest at all sizes; nothing where that is not certain.
std::optional<Extent> divide_exactly(const Extent& a, const Extent& b);
// floor(a / b), for b > 0; undecided for b == 0 and for negative numbers b.
Extent floor_quotient(const Extent& a, const Extent& b);
// The extent that these broadcast to where they do: 1 where all are, else the one that is not.
Extent joint(std::span<const Extent> members);
// The members of a joint; else the extent itself (no members for the number 1).
Extents members_of(const Extent& extent);
// window_extent (families.h) with round_up; numbers: [pad_begin, pad_end, window, stride, dilation].
Extent window_up(const Extent& extent, std::vector<int64_t> numbers);
// floor(extent * scale), as resize counts.
Extent scaled_extent(const Extent& extent, double scale);

// a == b, a < b, a <= b for all sizes: true; for none: false; else nothing.
std::optional<bool> decide_equal(const Extent& a, const Extent& b);
std::optional<bool> decide_less(const Extent& a, const Extent& b);
std::optional<bool> decide_less_equal(const Extent& a, const Extent& b);
Extent product(std::span<const Extent> extents);
// The same extent, of which it is known now that it is at least that where it exists at all. (Equality ignores this.)
Extent known_at_least(const Extent& extent, int64_t bound);

// Something that must hold where a model runs at all, but not at all sizes.
struct Requirement {
  enum class Kind : uint8_t {
    equal,      // a == b
    at_least,   // a >= bound
    broadcast,  // the members of the joint extent a broadcast together
    into,       // b broadcasts into a, which it does not enlarge
  };
  Kind kind = Kind::equal;
  Extent a, b;
  int64_t bound = 0;
};
// Whether one of `known` reports so.
bool is_implied(const Requirement& wanted, std::span<const Requirement> known);

}  // namespace rlgo::ops

// What is known about symbolic extents in one case of a rule, and the questions that the answers are drawn from: the
// conditions under which the rule applies are assumed, those of an axiom must follow.
#pragma once

#include <map>
#include <set>

#include "core/rulegen/prove/extent.h"

namespace rlgo::rulegen::sym {

using Shape = std::vector<Lin>;

enum class Truth : uint8_t { no, yes, unknown };
inline Truth negated(Truth t) { return t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes; }

// Whether a demand is met; in assume mode `misfit` is a contradiction: the case cannot arise.
enum class Fit : uint8_t { fits, misfit, unknown };

class Facts {
 public:
  explicit Facts(LinPool& pool) : pool_(pool) {}

  // Forgets everything: the next case.
  void clear();
  // Brings all facts into normal form under the equations found so far; before the builder runs again. False: they
  // contradict each other.
  bool refresh();
  // Something was learnt since the last call.
  bool take_changed();

  // False: contradicts what is known. The facts are then useless.
  bool assume_equal(Lin a, Lin b);
  bool assume_at_least(Lin a, int64_t bound);
  bool assume_compatible(Lin a, Lin b);     // may be broadcast together
  bool assume_absorbs(Lin big, Lin small);  // broadcasting `small` to `big` leaves `big`
  void assume_different(Lin a, Lin b);
  // One at least of these is not negative. Remembered as a whole: nothing follows of each.
  bool assume_any_at_least_zero(const std::vector<Lin>& all);
  Truth any_at_least_zero(const std::vector<Lin>& all);
  // a = b * quotient, as assume_equal, and remembered where that equation is one of products.
  bool assume_divides(Lin a, Lin b, Lin quotient);
  std::optional<Lin> known_quotient(Lin a, Lin b);
  // A real number without a value is another one.
  void assume_real(int32_t symbol, int32_t real);
  int32_t real(int32_t symbol) const;
  // Real numbers: big >= small, or big > small where strict.
  struct Order {
    int32_t big = 0, small = 0;
    bool strict = false;
    auto operator<=>(const Order&) const = default;
  };
  void assume_order(const Order& order);
  const std::set<Order>& orders() const { return orders_; }
  void assume_real_different(int32_t a, int32_t b);
  bool real_different(int32_t a, int32_t b) const;

  // Normal form: equal extents that are known to be equal get equal numbers wherever the method reaches.
  Lin canon(Lin a);
  Truth equal(Lin a, Lin b);
  Truth at_least(Lin a, int64_t bound);
  bool compatible(Lin a, Lin b);
  bool absorbs(Lin big, Lin small);
  Lin joint(std::span<const Lin> extents);

  LinPool& pool() { return pool_; }

 private:
  struct Zero {
    Monomial lead;  // empty where no summand can be taken for it
    Lin rest = 0;   // lead = rest
    Lin whole = 0;  // = 0
  };
  std::vector<Lin> members(Lin extent);
  std::vector<Lin> normal(std::vector<Lin> all);  // each in normal form, sorted
  Lin without_common_factor(Lin p);
  bool solve(Lin zero);
  bool solve_joint(Lin zero);
  bool solve_symbol(Lin zero);
  bool solve_product(Lin zero, bool* handled);
  bool add_zero(Lin zero);
  bool nonnegative(Lin p, int depth);
  void note_nonnegative(Lin p);
  std::optional<int64_t> summand_bound(const Summand& item, int depth);
  std::optional<int64_t> lower_bound(Lin p, int depth);
  std::optional<int64_t> atom_bound(int32_t atom, int depth);
  Lin reduced(Lin a);
  Lin substituted(Lin a);
  bool is_stable(Lin a);
  bool reduce_once(Lin& a);
  void learnt();

  LinPool& pool_;
  std::map<int32_t, Lin> solved_;  // symbol -> what it is
  std::vector<Zero> zeros_;
  std::set<Lin> nonnegative_;
  std::map<int32_t, int64_t> bounds_;                     // of single atoms, from nonnegative_
  std::set<std::pair<Lin, Lin>> compatible_, different_;  // smaller first
  std::set<std::vector<Lin>> any_;                        // sorted: one of each is at least 0
  std::set<std::pair<std::vector<Lin>, Lin>> absorbs_;    // sorted members absorb one extent
  std::map<std::pair<Lin, Lin>, Lin> quotients_;          // of assume_divides
  std::map<int32_t, int32_t> reals_;
  std::set<Order> orders_;
  std::set<std::pair<int32_t, int32_t>> real_different_;  // smaller first
  void forget_canon() { ++generation_; }
  std::vector<std::pair<uint32_t, Lin>>
      canon_;  // memory of canon(), by extent; counts where the generation is this one
  uint32_t generation_ = 1;
  bool changed_ = false;
};

// Meets or makes demands, by mode.
struct Logic {
  Facts& facts;
  bool assume = false;

  Fit equal(Lin a, Lin b);
  Fit at_least(Lin a, int64_t bound);
  Fit compatible(Lin a, Lin b);
  Fit absorbs(Lin big, Lin small);
  Fit any_at_least_zero(const std::vector<Lin>& all);
  // a = b * *quotient
  Fit divides(Lin a, Lin b, Lin* quotient);
};

}  // namespace rlgo::rulegen::sym

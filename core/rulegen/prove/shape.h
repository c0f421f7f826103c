// What is known about symbolic extents in one case of a rule, and the questions that the answers are drawn from: the
// conditions under which the rule applies are assumed, those of an axiom must follow.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "core/rulegen/prove/extent.h"

namespace rlgo::rulegen::sym {

using Shape = std::vector<ExtentId>;
// The smaller number first.
inline std::pair<ExtentId, ExtentId> ordered(ExtentId a, ExtentId b) { return std::minmax({a, b}); }

enum class Truth : uint8_t { no, yes, unknown };
inline Truth negated(Truth t) { return t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes; }

// Whether a demand is met; in assume mode `misfit` is a contradiction: the case cannot arise.
enum class Fit : uint8_t { fits, misfit, unknown };

class Facts {  // equations and bounds of one case
 public:
  explicit Facts(ExtentPool& pool) : pool_(pool) {}

  // Forgets everything: the next case.
  void clear();
  // Brings all facts into normal form under the equations found so far; before the builder runs again. False: they
  // contradict each other.
  bool refresh();
  // Something was learnt since the last call.
  bool take_changed();

  // False: contradicts what is known. The facts are then useless.
  bool assume_equal(ExtentId a, ExtentId b);
  bool assume_at_least(ExtentId a, int64_t bound);
  bool assume_compatible(ExtentId a, ExtentId b);     // may be broadcast together
  bool assume_absorbs(ExtentId big, ExtentId small);  // broadcasting `small` to `big` leaves `big`
  void assume_different(ExtentId a, ExtentId b);
  // One at least of these is not negative. Remembered as a whole: nothing follows of each.
  bool assume_any_at_least_zero(const std::vector<ExtentId>& all);
  Truth any_at_least_zero(const std::vector<ExtentId>& all);
  // a = b * quotient, as assume_equal, and remembered where that equation is one of products.
  bool assume_divides(ExtentId a, ExtentId b, ExtentId quotient);
  std::optional<ExtentId> known_quotient(ExtentId a, ExtentId b);
  // A real number without a value is another one.
  void assume_real(int32_t symbol, int32_t real);
  int32_t real(int32_t symbol) const;
  // Real numbers: big >= small, or big > small where strict.
  struct Order {
    int32_t big = 0, small = 0;
    bool strict = false;
    auto operator<=>(const Order&) const = default;
  };
  void assume_order(const Order& order);  // of real numbers
  const std::set<Order>& orders() const { return orders_; }
  void assume_real_different(int32_t a, int32_t b);  // a != b
  bool real_different(int32_t a, int32_t b) const;   // whether that was assumed

  // Normal form: equal extents that are known to be equal get equal numbers wherever the method reaches.
  ExtentId canon(ExtentId a);
  Truth equal(ExtentId a, ExtentId b);
  Truth at_least(ExtentId a, int64_t bound);
  bool compatible(ExtentId a, ExtentId b);
  bool absorbs(ExtentId big, ExtentId small);
  ExtentId joint(std::span<const ExtentId> extents);

  ExtentPool& pool() { return pool_; }

 private:
  struct Zero {
    Monomial lead;       // empty where no summand can be taken for it
    ExtentId rest = 0;   // lead = rest
    ExtentId whole = 0;  // = 0
  };
  std::vector<ExtentId> members(ExtentId extent);
  std::vector<ExtentId> normal(std::vector<ExtentId> all);  // each in normal form, sorted
  ExtentId without_common_factor(ExtentId p);
  bool solve(ExtentId zero);
  bool solve_joint(ExtentId zero);
  bool solve_symbol(ExtentId zero);
  bool solve_product(ExtentId zero, bool* handled);
  bool add_zero(ExtentId zero);
  bool nonnegative(ExtentId p, int depth);
  void note_nonnegative(ExtentId p);
  std::optional<int64_t> summand_bound(const Summand& item, int depth);
  std::optional<int64_t> lower_bound(ExtentId p, int depth);
  std::optional<int64_t> atom_bound(int32_t atom, int depth);
  ExtentId reduced(ExtentId a);
  ExtentId substituted(ExtentId a);
  bool is_stable(ExtentId a);
  bool reduce_once(ExtentId& a);
  void learnt();

  ExtentPool& pool_;
  std::map<int32_t, ExtentId> solved_;  // symbol -> what it is
  std::vector<Zero> zeros_;
  std::set<ExtentId> nonnegative_;
  std::map<int32_t, int64_t> bounds_;                               // of single atoms, from nonnegative_
  std::set<std::pair<ExtentId, ExtentId>> compatible_, different_;  // smaller first
  std::set<std::vector<ExtentId>> any_;                             // sorted: one of each is at least 0
  std::set<std::pair<std::vector<ExtentId>, ExtentId>> absorbs_;    // sorted members absorb one extent
  std::map<std::pair<ExtentId, ExtentId>, ExtentId> quotients_;     // of assume_divides
  std::map<int32_t, int32_t> reals_;
  std::set<Order> orders_;
  std::set<std::pair<int32_t, int32_t>> real_different_;  // smaller first
  void forget_canon() { ++generation_; }
  std::vector<std::pair<uint32_t, ExtentId>>
      canon_;  // memory of canon(), by extent; counts where the generation is this one
  uint32_t generation_ = 1;
  bool changed_ = false;
};

// Meets or makes demands, by mode.
struct Logic {
  Facts& facts;
  bool assume = false;

  Fit equal(ExtentId a, ExtentId b);
  Fit at_least(ExtentId a, int64_t bound);
  Fit compatible(ExtentId a, ExtentId b);
  Fit absorbs(ExtentId big, ExtentId small);
  Fit any_at_least_zero(const std::vector<ExtentId>& all);
  // a = b * *quotient
  Fit divides(ExtentId a, ExtentId b, ExtentId* quotient);
};

}  // namespace rlgo::rulegen::sym

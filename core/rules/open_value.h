// Expressions of rules over integers that depend on open sizes: what value.cc does with plain ones. No value where the
// answer is not the same for all sizes.
#pragma once

#include <optional>
#include <span>

#include "core/rules/value.h"

namespace rlgo::rules {

using Args = std::span<const Val>;

// Whether an argument is an OpenInt or OpenInts; then the functions below are asked.
bool is_open(Args args);

constexpr int64_t kMostItems = 4096;  // of a list that an expression makes

// The domain of ListFunctions (list_functions.h): integers that depend on open sizes.
struct OpenNumbers {
  using Value = Val;
  using Int = ops::Extent;
  using List = ops::Extents;
  static constexpr int64_t kMostItems = rules::kMostItems;
  static std::optional<Int> integer(const Val& v) { return to_extent(v); }
  static std::optional<List> list(const Val& v) { return to_extents(v); }
  static std::optional<int64_t> number(const Int& i) { return i.number(); }
  static std::optional<bool> equal(const Int& a, const Int& b) { return ops::decide_equal(a, b); }
  // Undecided where the answer is not one function of the sizes.
  static std::optional<Int> combine(Fn fn, const Int& a, const Int& b, bool* none);
  static Int make(int64_t k) { return k; }
  static Val of(const Int& i) { return from_extent(i); }
  static Val of(const List& list) { return from_extents(list); }
  static Val truth(bool t) { return t; }
  static Val open() { return {}; }
  static Val broadcast(const List& a, const List& b);
};

// True where all items are equal at all sizes, false where two never are.
std::optional<bool> open_same(const Val& a, const Val& b);
// a < b, or a <= b.
Val open_compare(const Val& a, const Val& b, bool or_equal);

}  // namespace rlgo::rules

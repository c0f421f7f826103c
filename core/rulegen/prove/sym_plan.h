// What a rule states of its left side before any case of it is built.
#pragma once

#include <map>

#include "core/rulegen/prove/sym_expr.h"
#include "core/rulegen/prove/sym_ranks.h"

namespace rlgo::rulegen::sym {

struct LeftPlan {
  // A condition and the names in it; sets of slots.
  struct Condition {
    const rules::Expr* expr = nullptr;
    uint32_t nodes = 0, tensors = 0, sequences = 0, attributes = 0;
    // Whether all that it names is there.
    bool ready(const Binding& binding) const;
  };

  // `all_windows`: see CaseLimits.
  LeftPlan(const rules::CompiledRule& rule, bool all_windows);

  Ranks ranks;                                         // changed while a case is built
  std::map<int32_t, int> rank_hint;                    // tensor -> rank that a condition demands
  std::vector<std::pair<int32_t, int32_t>> same_rank;  // tensors whose ranks a condition states are equal
  uint32_t asked_value = 0;                            // tensors whose one value a condition asks for
  uint32_t asked_rising = 0;                           // whose start and step
  uint32_t asked_varying = 0;                          // along which axis they vary
  uint32_t same_type = 0;                              // attributes that are the type of a tensor
  bool has_form(int32_t slot) const { return ((asked_value | asked_rising | asked_varying) >> slot & 1u) != 0; }
  // Lists around what a concat is rewritten to, set of slots. They are left empty: what is proved without them,
  //     concat(a..) = concat(c..),  holds with them by  concat(l.. a.. r..) = concat(l.. concat(a..) r..)
  // (concat-flatten, both sides joined along one axis: same_axes()), and whatever the shapes must fulfil without them
  // they must with them.
  uint32_t around = 0;
  std::vector<Condition> conditions;  // all must hold; at most 64, the others are asked last

 private:
  void find_hints(const rules::Expr& condition);
  void find_values(const rules::Expr& expr);
  void find_conditions(const rules::Expr& condition);
  void find_around(const rules::CompiledRule& rule);
};

}  // namespace rlgo::rulegen::sym

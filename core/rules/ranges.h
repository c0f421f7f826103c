// Whether a rule stays within the range of numbers. A proof is over the reals, where (x a) c = x (a c). In 32 bits
// a c may overflow though (x a) c does not: so a rule makes no product, quotient, reciprocal, power or exponential of
// values that are known at run time only, unless the left side makes it, too.
//
// Each value of a rule is abstracted to its monomials: x (a + b) to {x a, x b}. What the left side computes lies in
// range, and with it whatever lies between two such monomials on a logarithmic scale: sqrt(x), x^2 where x^3 is
// computed. Every other monomial between new operators of the right side needs constants of moderate size
// (graph::kExtreme) in place of variables. What is computed of constants alone is checked where it is folded
// (exec::fold()). Half precision has five bits of exponent, so there no constant is moderate, factors such as 6 count,
// and a sum of run-time values must be a sum of the left side.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/rules/binding.h"
#include "core/rules/rules.h"

namespace rlgo::rules {

// Sets of a rule's variables: bit k for tensor k, bit 32 + k for sequence k.
struct KnownVariables {
  uint64_t constant = 0;
  uint64_t moderate = 0;  // constants that scale other numbers by a factor that ranges allow
  bool half = false;      // in half precision
  auto operator<=>(const KnownVariables&) const = default;
};

// Whether the rule's new values lie in range wherever those of its left side do.
bool keeps_range(const CompiledRule& rule, const KnownVariables& known);

// What one rule asks of its variables; answers are kept. Thread-safe.
class RangeCondition {
 public:
  // Null where the rule asks nothing, in half precision neither.
  static std::shared_ptr<RangeCondition> of(const CompiledRule& rule);
  // Whether the rule asks nothing but in half precision.
  bool half_only() const { return half_only_; }
  bool holds(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding);

 private:
  bool half_only_ = false;
  std::mutex mutex_;
  std::map<KnownVariables, bool> answers_;
};

// The same rules without the conditions `pays`: for questions about where they hold.
std::shared_ptr<const RuleSet> wherever_true(const RuleSet& rules);
// The same, without range conditions, too: for questions about real numbers.
std::shared_ptr<const RuleSet> over_reals(const RuleSet& rules);

}  // namespace rlgo::rules

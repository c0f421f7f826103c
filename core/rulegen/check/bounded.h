// Rules applied to every small instance of their left side, compared as exact polynomials: how axioms are validated.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/rulegen/check/check.h"
#include "core/rules/compiled.h"

namespace rlgo::rulegen {

// A source of choices: run through again and again, it gives every combination once, or random ones.
class Choices {
 public:
  virtual ~Choices() = default;
  // A number in [0, count); count > 0.
  virtual int64_t pick(int64_t count) = 0;
};

// All combinations in the manner of an odometer: the choices of the last run but with the last one advanced.
class AllChoices : public Choices {
 public:
  int64_t pick(int64_t count) override;
  // On to the next combination; false after the last.
  bool next();

 private:
  struct Digit {
    int64_t value, count;
  };
  std::vector<Digit> digits_;
  size_t at_ = 0;
};

struct Bounds {
  int64_t dims = 2;                   // extents in [1, dims]
  std::vector<int64_t> extents = {};  // where not empty: one of these
  std::vector<int64_t> images = {};   // where not empty: one of these for the last two of four axes
  int64_t ranks = 4;                  // of tensors of any rank, at most
  int64_t kernel = 3;                 // of windows, at most
  int64_t groups = 2;
  int64_t least_list = 0;  // of operands that a rule takes as a list
};

// A graph around an instance of the left side, by choices within the bounds: ranks 1 to 4 (Bounds::ranks) where the
// operator takes any; n-ary operands 1 or 2; pads none, both sides, each side alone, all different; strides and
// dilations 1 and 2, also unequal (along four elements and more strides of 3, too); slopes of both signs; activations
// none, relu, tanh; every axis, permutation and way to split. Operands that conditions ask to be constant are weights,
// others inputs. Nothing where the choices do not fit together.
std::optional<graph::Graph> bounded_instance(const rules::CompiledRule& rule, const Bounds& bounds, Choices& choices);

struct BoundedOptions {
  Bounds bounds;
  int64_t most_tries = 200'000;  // combinations to go through; where there are more, random ones are tried as well
  int64_t least_instances = 0;   // fewer: more tries, then larger extents (up to `reach`)
  int64_t of_many_axes = 0;      // so many more, of up to five axes, as far as there are
  int64_t exact_terms = 500'000;
  int64_t z3_terms = 2'000;  // where polynomials do not see it: Z3 is asked about sides of so many terms at most
  int64_t reach = 4;         // where too few instances are found, with more tries either, extents go up to this
  // The axiom that the rule is a mutant of: places where it does the same do not count as instances, and larger
  // instances are tried first, which refute most mutants at once.
  const rules::RuleSet* original = nullptr;
  std::span<const graph::Graph> first = {};  // instances to begin with, of a mutant: first_instances() of its axiom
  bool reads = false;  // both sides must read the same elements, but of operands that total(?x) is asked of
  uint64_t seed = 1;
  std::function<bool()> stop = {};  // asked between instances
};

struct BoundedResult {
  CheckResult check;
  bool exhaustive = false;  // every combination within the bounds was tried
  int64_t dims = 0;         // the bound on extents that it holds for: larger than asked where that had no instance
};

// The rule at every place where it matches such an instance. Where the polynomials differ, Z3 is asked; what it cannot
// prove is looked at in the prime field: refuted there, it is a counterexample; else it counts as inexact.
BoundedResult check_bounded(const rules::RuleSet& rules, int rule, const BoundedOptions& options);

// Some of each kind of larger instances, at which the rule applies. What is wrong with its mutants mostly shows there.
std::vector<graph::Graph> first_instances(const rules::RuleSet& rules, int rule, const BoundedOptions& options);

}  // namespace rlgo::rulegen

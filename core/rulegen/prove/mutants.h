// Mutants of axioms: what an axiom would state with one mistake in it. Validation that lets many of them pass is no
// validation (mutation testing, DeMillo, Lipton and Sayward 1978).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/rulegen/check/bounded.h"
#include "core/rulegen/prove/axiom.h"

namespace rlgo::rulegen {

struct Mutant {
  std::string mistake;  // "drops `when ?a >= 0`", "pads: items 1 and 2 exchanged", ...
  rules::RuleText text;
};

// Every mutant of a rule by one of: a condition dropped, a comparison turned or shifted by one, operands exchanged, a
// variable in place of another, an operator in place of its like (add: sub, max: min, relu: tanh, ...), a whole number
// larger by one, a real number's sign turned, two items of a list exchanged.
std::vector<Mutant> mutants_of(const rules::RuleText& rule);

enum class MutantFate : uint8_t {
  refuted,     // a place where the sides differ, or where one reads elements that the other does not
  impossible,  // does not compile, or its sides never fit together: it can do no harm
  same,        // does what the axiom does, at all places tried: a condition that shapes imply, operands that commute
  proved,      // follows from the axioms: the mistake is none
  survived,
};
std::string_view name(MutantFate fate);

struct MutantResult {
  std::string axiom;
  Mutant mutant;
  MutantFate fate = MutantFate::survived;
  int64_t instances = 0;  // at which it was compared
};

// What validation (check_bounded) states of an axiom's mutants; what it lets pass is looked for a proof. Refers to
// `axioms`.
class AxiomUnderTest {
 public:
  AxiomUnderTest(const rules::RuleText& axiom, const AxiomSet& axioms, const BoundedOptions& options);
  AxiomUnderTest(const AxiomUnderTest&) = delete;
  AxiomUnderTest& operator=(const AxiomUnderTest&) = delete;
  // `mutant`: one of mutants_of(axiom).
  MutantResult judge(Mutant mutant) const;

 private:
  std::string name_;
  const AxiomSet& axioms_;
  std::shared_ptr<const rules::RuleSet> axiom_;
  std::vector<graph::Graph> first_;
  BoundedOptions options_;
};

}  // namespace rlgo::rulegen

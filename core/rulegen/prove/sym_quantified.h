// The second route to a proof: axioms as quantified formulas that Z3 instantiates itself.
#pragma once

#include <string>
#include <vector>

#include "core/rulegen/prove/sym_saturate.h"

namespace rlgo::rulegen::sym {

struct QuantifiedLimits {
  int iterations = 4;           // rounds in which it is collected which forms of axioms occur
  int terms = 600;              // of the e-graph that is used for it
  unsigned effort = 3'000'000;  // Z3's own resource units, not time
};

struct QuantifiedResult {
  bool proved = false;
  std::vector<int32_t> axioms;  // proved: numbers of those that Z3 needed, sorted; -1 for commutativity
  int formulas = 0;             // that Z3 was given
};

// An axiom is one formula for each form in which it occurs: the attributes and shapes of its operators, its variables
// replaced by bound ones that stand for all tensors of such shapes,
//     for all x, z:  shape(x) = s and shape(z) = t  implies  L = R and every term in L and R has its shape
// with L as the trigger. An e-graph only finds the forms (the conditions of the axiom are decided there, over symbolic
// extents); it is saturated without a look at the goals, and what it found equal is not told to Z3, which searches with
// model-based instantiation off and answers `unsat` (proved) or gives up. A formula is true wherever its axiom is, so a
// proof by this route claims what one by the e-graph does. Axioms whose left side is a variable are left out.
// Throws Error where Z3 itself fails.
QuantifiedResult prove_quantified(const AxiomSet& axioms, const EGraph& start, const Goals& goals, World& world,
                                  const QuantifiedLimits& limits = {});

}  // namespace rlgo::rulegen::sym

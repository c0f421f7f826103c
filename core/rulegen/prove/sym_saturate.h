// Equality saturation: axioms applied to an e-graph until goals are equal, nothing is new, or a limit is reached.
#pragma once

#include <unordered_set>

#include "core/rulegen/prove/sym_match.h"

namespace rlgo::rulegen::sym {

struct SaturationLimits {
  int iterations = 8;
  int terms = 2500;
};
using Goals = std::vector<std::pair<TermId, TermId>>;

// Terms that axioms need and would not make by themselves: the outputs of each split, and their concat, which is the
// whole, for terms from number `seen` on (moved to the end) while there are fewer than `most_terms`. Adding a term
// asserts nothing.
void add_split_terms(EGraph& graph, World& world, int32_t most_terms, int32_t& seen);

class Saturation {  // rounds of axioms until nothing is new
 public:
  Saturation(const AxiomSet& axioms, EGraph& graph, World& world, const SaturationLimits& limits)
      : axioms_(axioms), graph_(graph), w_(world), limits_(limits) {}
  // Whether all pairs are equal by the axioms of these numbers. Once.
  bool run(const Goals& goals, const std::vector<int32_t>& axioms);

 private:
  bool reached(const Goals& goals) const;
  bool round(const Goals& goals, const std::vector<int32_t>& axioms);
  uint64_t key(int32_t axiom, const Binding& binding) const;

  const AxiomSet& axioms_;
  EGraph& graph_;
  World& w_;
  SaturationLimits limits_;
  std::unordered_set<uint64_t> tried_;  // matches, by axiom and classes
  int32_t seeded_ = 0;                  // terms looked at by add_split_terms()
};

}  // namespace rlgo::rulegen::sym

// Equality saturation: axioms applied to an e-graph until goals are equal, nothing is new, or a limit is reached.
#pragma once

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "core/rulegen/sym_match.h"

namespace rlgo::rulegen::sym {

struct SaturationLimits {
  int iterations = 8;
  int terms = 2500;
};
using Goals = std::vector<std::pair<TermId, TermId>>;

class Saturation {
 public:
  Saturation(const AxiomSet& axioms, EGraph& graph, World& world, const SaturationLimits& limits)
      : axioms_(axioms), all_(axioms.axioms().size()), graph_(graph), w_(world), limits_(limits) {
    std::iota(all_.begin(), all_.end(), 0);
    std::ranges::copy_if(all_, std::back_inserter(plain_),
                         [&](int32_t k) { return axioms_.axioms()[static_cast<size_t>(k)].plain; });
  }
  // Whether all pairs are equal. likely: numbers of axioms that are tried alone first; those that joined the sides of
  // a similar case, mostly do it again.
  bool run(const Goals& goals, const std::vector<int32_t>& likely);

 private:
  bool reached(const Goals& goals) const;
  bool run_with(const Goals& goals, const std::vector<int32_t>& axioms, const SaturationLimits& limits);
  bool round(const Goals& goals, const std::vector<int32_t>& axioms, int terms);
  void seeds();
  uint64_t key(int32_t axiom, const Binding& binding) const;

  const AxiomSet& axioms_;
  std::vector<int32_t> all_, plain_;  // numbers of all axioms; of those that say what something is, or make it smaller
  EGraph& graph_;
  World& w_;
  SaturationLimits limits_;
  std::unordered_set<uint64_t> tried_;  // matches, by axiom and classes
  int32_t seeded_ = 0;                  // terms looked at by seeds()
};

}  // namespace rlgo::rulegen::sym

// Both sides of a rewrite, evaluated over the rings and compared. Inside of check.h and bounded.h.
#pragma once

#include <string>

#include "core/rulegen/check/check.h"
#include "core/rulegen/check/input_values.h"

namespace rlgo::rulegen {

// Two graphs with inputs, weights and outputs of the same names and contents. The graphs must outlive it.
class Comparison {
 public:
  // Throws Error where the numbers of outputs differ.
  Comparison(const graph::Graph& left, const graph::Graph& right);

  // One evaluation of both sides in the prime ring; drawn again where an order was too near to decide, or values were
  // equal but for rounding. False where the verdict is settled: into `result` goes a counterexample, or why nothing can
  // be stated.
  bool in_field(Draw draw, CheckResult& result) const;
  // in_field for so many seeds, number 1 with 90 % negative numbers.
  bool in_field(int seeds, uint64_t seed, CheckResult& result) const;
  // Whether all outputs are the same polynomials; nothing where they grow beyond so many terms, or have no meaning.
  std::optional<bool> exactly(int64_t most_terms, uint64_t seed) const;
  // Whether Z3 proves that all outputs are equal at these shapes, for all real inputs where the left side has values
  // (Z3Ring: what polynomials do not see). False states nothing; *gave_up is then set where it took Z3 too much.
  bool by_z3(int64_t most_terms, uint64_t seed, bool* gave_up = nullptr) const;

 private:
  bool same(const TensorOf<PrimeRing>& a, const TensorOf<PrimeRing>& b, const std::string& name, bool& rounded,
            CheckResult& result) const;
  void settle(std::string where, double x, double y, CheckResult& result) const;

  const graph::Graph& left_;
  const graph::Graph& right_;
  InputValues plan_;
};

}  // namespace rlgo::rulegen

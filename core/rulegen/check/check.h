// Refutes graphs and rules by evaluating both sides at many bounded shapes; what is not refuted is not thereby proved.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/graph/graph.h"
#include "core/rules/rules.h"

namespace rlgo::rulegen {

struct CheckOptions {
  int instances = 40;            // places of application in random instances to look at
  int attempts = 20'000;         // instances to make for them at most
  int seeds = 4;                 // evaluations in the prime ring; number 1 with 90 % negative numbers
  int exact_instances = 5;       // of those small enough, this many also as exact polynomials
  int64_t exact_terms = 20'000;  // what is small enough
  int64_t z3_terms = 2'000;      // where polynomials do not see it: Z3 is asked about sides of so many terms at most
  uint64_t seed = 1;
  std::function<bool()> stop;  // asked before each place; true: the result is of the places before
};

enum class CheckVerdict : uint8_t { equal, different, unknown };  // of one instance

struct Counterexample {
  graph::Graph left, right;
  std::string output;  // name, with the index of the first element that differs: "y[0,2]"
  double left_value = 0, right_value = 0;
  std::string to_text() const;  // both graphs (shapes, attributes) and the element, several lines
};

struct CheckResult {
  CheckVerdict verdict = CheckVerdict::unknown;
  int64_t instances = 0;                         // compared in the prime ring
  int64_t exact = 0;                             // of these (the first few), equal as exact polynomials
  int64_t by_z3 = 0;                             // not as polynomials, but proved equal at these shapes by Z3 (Z3Ring)
  bool z3_gave_up = false;                       // at one of the others, after its resource units
  int64_t inexact = 0;                           // equal in the prime ring, but neither of the two
  int64_t same = 0;                              // of mutants: places where they do what the axiom does, not compared
  std::string why;                               // unknown: the reason
  std::optional<Counterexample> counterexample;  // different
};

// Two graphs with inputs, weights and outputs of the same names and contents. different: some output element differs
// as a real number (beyond rounding) at drawn inputs; equal: no element differs in the prime ring for any seed (wrong
// for pairs that differ with a chance below 2^-31 a seed, but for relu and max that happen not to be met).
// unknown: an operator has no meaning over the reals, or values differ in the ring but not as real numbers.
CheckResult check_graphs(const graph::Graph& left, const graph::Graph& right, const CheckOptions& options);

// The rule applied wherever it matches in instances that are built around its left side: random ranks, extents (odd
// and 1 included), groups, strides, dilations, pads, broadcasts. The first difference decides.
CheckResult check_rule(const rules::RuleSet& rules, int rule, const CheckOptions& options);

}  // namespace rlgo::rulegen

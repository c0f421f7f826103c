// The numeric check: do two graphs compute the same?
#pragma once

#include <cstdint>
#include <string>

#include "core/graph/graph.h"

namespace rlgo::verify {

struct EquivalenceOptions {
  int seeds = 3;  // input sets, >= 1
  uint64_t seed = 1;
  bool f64 = false;  // compute f32 graphs in double precision: no rounding noise, several times slower
  int threads = 1;
};

struct Equivalence {
  // False: no error can be stated (see reason): inputs, outputs or their types differ, or NaN or infinity stand in
  // other places.
  bool comparable = true;
  std::string reason;
  double max_abs_error = 0;
  // Per output and input set: max |a - b| / max |a| over the finite elements (max |a - b| where a is all zero); the
  // largest.
  double max_rel_error = 0;
  std::string worst_output;  // where max_rel_error is, "" for none
  int not_compared = 0;      // outputs of operators that rlgo cannot compute, where one graph knows more of their shape
  bool within(double relative_tolerance) const { return comparable && max_rel_error <= relative_tolerance; }
};

// How inputs, outputs or their types differ; "" where they do not. What opaque operators make may be known in one graph
// only.
std::string interface_difference(const graph::Graph& a, const graph::Graph& b);

// Runs both graphs on the same synthetic inputs: normal numbers times 1, 16, 1/16, 1, ... from set to set, small
// integers. Inputs are matched by name, outputs by name and place. Opaque operators stand for seeded functions (see
// core/evaluate/leaf.cc). Throws Error where a graph cannot be run at all.
Equivalence equivalence(const graph::Graph& a, const graph::Graph& b, const EquivalenceOptions& options);
Equivalence equivalence(const graph::Graph& a, const graph::Graph& b, int seeds, uint64_t seed);

}  // namespace rlgo::verify

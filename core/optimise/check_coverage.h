// How much of a model a check by the interpreter sees, where it does not know all operators.
#pragma once

#include <map>
#include <string>

#include "core/graph/graph.h"

namespace rlgo::optimise {

// Operators that the interpreter computes, by how they reach an output of the model. For those that it does not know,
// synthetic functions stand (core/evaluate/leaf.cc): floats that depend smoothly on all of its inputs, integers that
// depend on nothing.
struct CheckCoverage {
  int direct = 0;                      // without such an operator between: differences show as they are
  int through = 0;                     // only through synthetic floats: a difference shows, its size does not
  int blind = 0;                       // only through synthetic integers: differences do not show
  std::map<std::string, int> unknown;  // operator -> how many are not known
  int all() const { return direct + through + blind; }
  // True: the check compares nothing.
  bool nothing() const { return direct + through == 0; }
};
CheckCoverage check_coverage(const graph::Graph& graph);
// One sentence on what the check leaves open; "" where nothing.
std::string to_text(const CheckCoverage& coverage);

}  // namespace rlgo::optimise

// Constants of the analytic cost model from times of operators.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/cost/analytic.h"

namespace rlgo::cost {

// An operator and how long it takes alone. Refers to the caller's graph.
struct TimedOperator {
  const graph::Graph* graph = nullptr;
  graph::NodeId id = graph::kNoNode;
  double us = 0;  // > 0
};

struct FittedProfile {
  AnalyticOptions options;        // four significant digits each
  std::vector<std::string> kept;  // keys of constants that the times do not determine: they are those of the start
};

// The constants under which the analytic prices of the operators are nearest to their times: least squares of
// log(price / time), linear beyond 20 %, so that an operator in a thousand that is a hundred times slower than its kind
// counts little. The peak and the fractions of it are seen as products alone: the largest one stays what it is in
// `start`. A constant that is 0 in `start` (no such part, no such effect) stays 0. What is not known to a factor of 2
// (one standard error) is kept, the least known first, and the others fitted again. Deterministic. Throws Error where
// there are fewer operators than constants, or a time is not above zero.
FittedProfile fit_profile(std::span<const TimedOperator> operators, const AnalyticOptions& start);

}  // namespace rlgo::cost

// The latency of a whole graph against that of the unmodified one, timed in the same rounds.
#pragma once

#include <functional>
#include <string>

#include "core/graph/graph.h"

namespace rlgo::cost {

struct WholeTiming {
  double unmodified_us = 0;  // latency of the unmodified graph, taken once
  double ratio = 1;          // the graph's time over the unmodified one's
  double error = 0;          // half-width of the 95 % interval of `ratio`, >= 0; 0 for the unmodified graph itself
  std::string failure = {};  // why there is no time; `ratio` and `error` mean nothing then
  bool ok() const { return failure.empty(); }
  double us() const { return unmodified_us * ratio; }
};

// Times a graph that was rewritten from a model's. `against`: the ratio that the graph's is compared with; further
// rounds run as long as the two may be the same. A target that dies, hangs or refuses the graph is a failure in the
// result. Throws WriteError where there is no room to write the graph.
using WholeTimer = std::function<WholeTiming(const graph::Graph& graph, double against)>;

}  // namespace rlgo::cost

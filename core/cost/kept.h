// The part of a model's time in operators that rlgo does not know and keeps as they are.
#pragma once

#include <map>
#include <span>
#include <string>

#include "core/cost/runtime.h"
#include "core/graph/graph.h"

namespace rlgo::cost {

struct KeptOperators {
  struct Kind {
    int count = 0;
    double fraction = 0;  // of the model's time, in [0, 1]
  };
  std::map<std::string, Kind> kinds;  // by type in ONNX, constants left out
  bool timed = false;                 // false: no share is known
  double fraction() const;            // of all together
};

// Of a graph as it was read from the file that `times` are of. Operators of these types count, unless the graph knows
// one of that name. Without times: numbers alone.
KeptOperators kept_operators(const graph::Graph& graph, std::span<const OperatorTime> times);
// "12.3 % of its time: 2 LSTM 12.1 %, 1 TopK 0.2 %", the most first; "2 LSTM, 1 TopK" without times; "none".
std::string to_text(const KeptOperators& kept);

}  // namespace rlgo::cost

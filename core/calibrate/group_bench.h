// Times groups of operators of many models: what prices of groups are learned from (results/prices.py).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/cost/runtime.h"
#include "core/report/json.h"

namespace rlgo::calibrate {

struct GroupBenchOptions {
  std::vector<std::string> graphs;  // zoo graphs or .onnx files
  double seconds = 20;              // of timing groups, for each graph
  std::string out = "groups.tsv";
  uint64_t seed = 0;  // of the rewrites
};
// Options graphs, seconds, out, seed.
void declare(OptionSink& sink, GroupBenchOptions& options);

// Rewrites each graph at random and by annealing under estimated prices, in turns, and times the groups of what comes
// out until its seconds are over. Writes a line for each group: model, us, spread_us, then NAME=VALUE for each feature
// (measure/group_features.h), separated by tabs, below "# KEY VALUE" lines. Members of "rlgo.bench-groups/1". Throws
// Error where a graph cannot be read, the runtime has no groups, or the file cannot be written.
report::Json bench_groups(const GroupBenchOptions& options, cost::Runtime& runtime,
                          const std::function<bool()>& should_stop,
                          const std::function<void(const std::string&)>& print);

}  // namespace rlgo::calibrate

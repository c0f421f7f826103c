// The agent of --wm.kind latency: rewriting is exact and costs nothing, the latency of whole graphs is learned, and
// only graphs that promise a gain are timed (core/optimise/learned_search.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "core/cost/whole_timing.h"
#include "core/optimise/learned_search.h"
#include "core/optimise/prices.h"
#include "core/rules/rules.h"
#include "learner/session/latency_ranks.h"
#include "learner/session/run_folder.h"
#include "learner/session/run_graph.h"
#include "learner/session/whole_timings.h"

namespace rlgo::learner {

struct LatencyAgentInput {
  RunGraph& graph;          // its best is replaced by the fastest graph
  const RunFolder& folder;  // metrics.csv gets a row for each timing
  std::shared_ptr<const rules::RuleSet> rules;
  const optimise::Prices& prices;
  cost::WholeTimer timer;  // asked where `ranks` is null
  // options.data: graphs that were timed, to start from where the file is there, and to add to; "": timed.tsv in
  // `folder`
  optimise::LearnedOptions options;
  uint64_t seed = 0;
  int max_locations = 200;
  double seconds = 0;  // 0: no limit
  std::function<bool()> should_stop = {};
  LatencyRanks* ranks = nullptr;  // that time and search, too
};

struct LatencyAgentResult {
  WholeTimings timings;
  double seconds = 0;
  std::string form, ended_by;  // what it did, behind the agent's name; why it ended
};
// Searches by prices first, then learns. Throws Error where the file is damaged, or of another runtime, version,
// processor or number of threads.
LatencyAgentResult learn_latency(const LatencyAgentInput& input, const Log& log);

}  // namespace rlgo::learner

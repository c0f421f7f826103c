// The report of a run, by its options.
#pragma once

#include "launch/train/config.h"
#include "learner/session/run_graph.h"
#include "learner/session/run_report.h"

namespace rlgo::launch {

// What the report of a graph of the run shows.
learner::RunReport run_report(const learner::RunFolder& run, const RunConfig& config, const learner::RunGraph& graph,
                              std::shared_ptr<const rules::RuleSet> rules, cost::CostModel* cost);
// For a run that has ended earlier: reads its options, models, rules and table of costs, and writes report.html of each
// graph into it.
void write_run_report(const learner::RunFolder& folder);

}  // namespace rlgo::launch

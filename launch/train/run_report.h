// The report of a run, by its options.
#pragma once

#include "launch/config.h"
#include "learner/session/run_report.h"

namespace rlgo::launch {

// What the report of a run shows.
learner::RunReport run_report(const learner::RunFolder& folder, const RunConfig& config,
                              const optimise::LoadedModel& model, std::shared_ptr<const rules::RuleSet> rules,
                              cost::CostModel* cost);
// For a run that has ended earlier: reads its options, model, rules and table of costs, and writes report.html into it.
void write_run_report(const learner::RunFolder& folder);

}  // namespace rlgo::launch

// The report of a training run.
#pragma once

#include <memory>
#include <string>

#include "core/cost/cost.h"
#include "core/rules/rules.h"
#include "launch/config.h"
#include "launch/model.h"
#include "launch/train/run_folder.h"

namespace rlgo::launch {

// Out of best.trace, metrics.csv and summary.txt. `cost` prices single operators; null where that cannot be told any
// more. Throws Error where a file is missing or damaged.
std::string run_html(const RunFolder& folder, const RunConfig& config, const LoadedModel& model,
                     std::shared_ptr<const rules::RuleSet> rules, cost::CostModel* cost);
// For a run that has ended earlier: reads its options, model, rules and table of costs, and writes report.html into it.
void write_run_report(const RunFolder& folder);

}  // namespace rlgo::launch

// The report of a training run.
#pragma once

#include <memory>
#include <string>

#include "core/cost/cost.h"
#include "core/optimise/model.h"
#include "core/rules/rules.h"
#include "learner/session/run_folder.h"

namespace rlgo::learner {

struct RunReport {
  const RunFolder& run;     // has the metrics
  const RunFolder& folder;  // of this graph's results
  const optimise::LoadedModel& model;
  std::shared_ptr<const rules::RuleSet> rules;
  cost::CostModel* cost;  // prices single operators; null where that cannot be known any more
  std::string graph;      // as --graph named it
  std::string cost_kind;  // "measured", where there is no `cost`
  std::string target;     // runtime
  int threads = 1;
  int max_locations = 200;  // of one rule that the agent was offered
  std::string version;      // of rlgo
};
// Out of best.trace, metrics.csv and summary.txt. Throws Error where a file is missing or damaged.
std::string run_html(const RunReport& run);

}  // namespace rlgo::learner

// Families of rules: what whole models judge as one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "core/cost/cost.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"

namespace rlgo::optimise {

// By rule: of its tags the one that the fewest rules of the set have ("winograd", "batch-norm"); the rule's own name
// where it has none.
std::vector<std::string> families_of(const rules::RuleSet& rules);

// How much the rewrites of each family lower the cost of `graph`, as a fraction of it: those of the trace, one after
// the other. Nothing is measured for it. Throws Stopped when the deadline has come.
std::map<std::string, double> gains_of(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules,
                                       const rules::Trace& trace, cost::CostModel& cost, const Deadline& deadline);

}  // namespace rlgo::optimise

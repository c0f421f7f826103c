// Costs of whole graphs, when all that may be measured for them has been.
#pragma once

#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/optimise/result.h"

namespace rlgo::optimise {

// Cost of a graph. What the model does not know is measured in one request, or estimated where it may not measure.
double cost_of(cost::CostModel& cost, const graph::Graph& graph);

// Costs of the model and of all candidates, of one time: what was an estimate when the first was priced may have been
// timed since.
void price_alike(cost::CostModel& cost, Result& result);

}  // namespace rlgo::optimise

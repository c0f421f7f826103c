#include "core/optimise/deferred_costs.h"

#include <functional>

namespace rlgo::optimise {
namespace {

// Asks for prices until all are known, or no more may be measured.
void until_known(cost::CostModel& cost, const std::function<void()>& ask) {
  for (;;) {
    const bool gathers = cost.defer();
    ask();
    if (!gathers) return;
    const bool known = cost.deferred() == 0;
    if (!cost.flush() || known) return;
  }
}

}  // namespace

double cost_of(cost::CostModel& cost, const graph::Graph& graph) {
  double us = 0;
  until_known(cost, [&] { us = cost::graph_cost(cost, graph).runtime_us; });
  return us;
}

void price_alike(cost::CostModel& cost, Result& result) {
  until_known(cost, [&] {
    result.before_us = cost::graph_cost(cost, result.before).runtime_us;
    for (Candidate& candidate : result.candidates)
      candidate.cost_us = cost::graph_cost(cost, candidate.graph).runtime_us;
  });
}

}  // namespace rlgo::optimise

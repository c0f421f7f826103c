#include "launch/problem.h"

#include <utility>

#include "core/base/usage.h"
#include "core/cost/profile.h"
#include "core/rules/rule_choice.h"
#include "launch/target.h"
#include "launch/training.h"

namespace rlgo::launch {

void declare_problem(Options& o, Problem& c) {
  o.heading("Main");
  optimise::declare(o, c.model);
  rules::declare(o, c.rules, "the proved rules of configs/rules");
  optimise::declare(o, c.cost);
  optimise::declare(o, c.cost.target);
  o.text("device", c.device,
         "where networks train and operators are timed: cpu, cuda (the first GPU), cuda:N, or auto, which takes a GPU "
         "where "
         "there is one");
  o.integer("seed", c.seed, 0, kNoLimit, "names all random streams");
}

void declare_details(OptionSink& o, Problem& c) {
  zoo::declare(o, c.model.zoo);
  onnx_io::declare(o, c.model.limits);
  o.heading("Costs");
  optimise::declare_details(o, c.cost);
  o.text("cost.table", c.cost.table, "table of measured costs to start from (costs.tsv of an earlier run)");
}

Prices make_prices(const Problem& config, std::shared_ptr<cost::Runtime> runtime) {
  Prices prices;
  const bool formula = config.cost.kind == CostKind::analytic;
  // Without LibTorch a formula may be asked where no runtime is installed.
  prices.runtime = runtime || (formula && training() == nullptr) ? std::move(runtime) : start_runtime(config);
  if (formula) {
    if (!config.cost.table.empty())
      fail_usage("--cost.table is a table of measured costs; it does not go with --cost analytic");
    prices.model = cost::analytic_cost(config.cost.profile);
    return prices;
  }
  if (config.cost.profile != CostOptions().profile)
    fail_usage("--cost.profile names the constants of a formula; it goes with --cost analytic");
  return optimise::measured_prices(std::move(prices.runtime), config.cost.table);
}

}  // namespace rlgo::launch

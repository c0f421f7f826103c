#include "core/optimise/cost_options.h"

namespace rlgo::optimise {

void declare(OptionSink& o, CostOptions& cost) {
  o.choice("cost", cost.kind, kCostKinds, "costs of operators: timed under the target, or a roofline formula");
}

void declare_details(OptionSink& o, CostOptions& cost) {
  o.text("cost.profile", cost.profile,
         "constants of the formula (--cost analytic): cpu, gpu, another profile of configs/costs, or a file "
         "(docs/costs.md)");
  declare(o, cost.timing);
  declare_details(o, cost.target);
}

}  // namespace rlgo::optimise

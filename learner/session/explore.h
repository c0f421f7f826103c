// Costs that a training will need, timed before it while the machine is quiet.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/env/rewrite_env.h"
#include "core/optimise/prices.h"

namespace rlgo::learner {

struct ExploreOptions {
  env::EnvOptions env;
  int64_t steps = 200;
  uint64_t seed = 0;
};
// Steps a random agent through the environment so that the operators that rewrites make are timed while nothing else
// runs. Returns the number of operators (groups of them, where a runtime fuses) timed. Ends early when should_stop
// states so.
size_t explore_costs(const ExploreOptions& options, const graph::Graph& graph,
                     std::shared_ptr<const rules::RuleSet> rules, const optimise::Prices& prices,
                     const std::function<bool()>& should_stop, const std::function<void(size_t done)>& progress);

}  // namespace rlgo::learner

// What every rank of a run needs, made from the options: rules, environments, prices. Implementations are chosen by
// name here.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/runtime.h"
#include "core/env/rewrite_env.h"
#include "core/mdp/mdp.h"
#include "core/optimise/prices.h"
#include "core/rules/rules.h"
#include "launch/config.h"
#include "launch/model.h"
#include "learner/session/run_graph.h"
#include "replay/schema.h"

namespace rlgo::launch {

// For reward R4: whole graphs are timed in the run's target; LibTorch's device is config.device.
learner::TimerOf timer_of(const RunConfig& config);

// `count` environments on one model's graph, from its unmodified form, stepped side by side.
std::unique_ptr<mdp::BatchEnv> make_envs(const RunConfig& config, const LoadedModel& model,
                                         const std::shared_ptr<const rules::RuleSet>& rules,
                                         const std::shared_ptr<cost::CostModel>& cost, int count);

// What the parts of a run's store say of it.
replay::StoreHeader store_header(const RunConfig& config, mdp::ObservationSpec spec, const rules::RuleSet& rules);

// Rank 0 (or a single process). `runtime`: where it runs already; else it is started here.
optimise::Prices make_prices(const RunConfig& config, std::shared_ptr<cost::Runtime> runtime = nullptr);
using optimise::Prices;

}  // namespace rlgo::launch

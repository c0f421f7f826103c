// What every rank of a run needs, made from the options: rules, environments, prices. Implementations are chosen by
// name here.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/runtime.h"
#include "core/env/rewrite_env.h"
#include "core/exec/device.h"
#include "core/mdp/mdp.h"
#include "core/optimise/prices.h"
#include "core/rules/rules.h"
#include "launch/config.h"
#include "replay/schema.h"

namespace rlgo::launch {

// Whole-graph time for reward R4; empty for the other rewards.
std::function<double(const graph::Graph&)> whole_graph_timer(const RunConfig& config, const exec::Device& device);

// `count` environments on one graph, from its unmodified form, stepped side by side.
std::unique_ptr<mdp::BatchEnv> make_envs(const RunConfig& config, const graph::Graph& graph,
                                         std::shared_ptr<const rules::RuleSet> rules,
                                         std::shared_ptr<cost::CostModel> model, const exec::Device& device, int count);

// What the parts of a run's store say of it.
replay::StoreHeader store_header(const RunConfig& config, mdp::ObservationSpec spec, const rules::RuleSet& rules);

// Rank 0 (or a single process). `runtime`: where it runs already; else it is started here.
optimise::Prices make_prices(const RunConfig& config, std::shared_ptr<cost::Runtime> runtime = nullptr);
using optimise::Prices;

}  // namespace rlgo::launch

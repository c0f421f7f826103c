// What every rank of a run needs, made from the options: rules, environments, prices. Implementations are chosen by
// name here.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/env/rewrite_env.h"
#include "core/mdp/mdp.h"
#include "core/rules/rules.h"
#include "launch/model.h"
#include "launch/train/config.h"
#include "learner/session/run_graph.h"
#include "replay/schema.h"

namespace rlgo::launch {

// For rewards that run whole graphs, in the run's target; LibTorch's device is config.device. See learner::timer_of.
// `should_stop` ends a timing; empty: signals alone do.
learner::TimerOf timer_of(const RunConfig& config, const std::string& under = "", const Log& log = {},
                          std::function<bool()> should_stop = {});

// `count` environments on one model's graph, from its unmodified form, stepped side by side.
std::unique_ptr<mdp::BatchEnv> make_envs(const RunConfig& config, const LoadedModel& model,
                                         const std::shared_ptr<const rules::RuleSet>& rules,
                                         const std::shared_ptr<cost::CostModel>& cost, int count);

// What the parts of a run's store show of it.
replay::StoreHeader store_header(const RunConfig& config, mdp::ObservationSpec spec, const rules::RuleSet& rules);

// The options of a run folder, for what the command line leaves open. A folder may be somebody else's: a measurer's
// command, or a Python, that stands in its config.cfg is not run. Throws Error that names the folder and what to give
// on the command line to run it all the same.
void read_run_options(Options& options, RunConfig& config, const learner::RunFolder& folder);

}  // namespace rlgo::launch

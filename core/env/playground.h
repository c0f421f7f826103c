// The environments of a run: one or several graphs, each with the places where episodes on it begin.
#pragma once

#include <memory>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/whole_timing.h"
#include "core/env/rewrite_env.h"
#include "core/env/starts.h"
#include "core/graph/graph.h"
#include "core/mdp/mdp.h"
#include "core/rules/rules.h"

namespace rlgo::env {

// Where the episodes of a run begin, by options.frontier; null: at the unmodified graph. The same in each process whose
// costs are the same.
std::shared_ptr<Starts> make_starts(const EnvOptions& options, const graph::Graph& graph,
                                    const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& model);
// The same without searches: from another process's traces (Starts::decode_archives). For expensive costs.
std::shared_ptr<Starts> received_starts(const EnvOptions& options, const graph::Graph& graph,
                                        const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& model);

struct Playground {
  const graph::Graph& graph;
  std::shared_ptr<const Starts> starts;  // null: episodes begin at the unmodified graph
  cost::WholeTimer timer;                // as of RewriteEnv
};
// `count` environments, stepped side by side: each draws one of the graphs for each episode.
std::unique_ptr<mdp::BatchEnv> make_envs(const std::vector<Playground>& graphs,
                                         const std::shared_ptr<const rules::RuleSet>& rules,
                                         const std::shared_ptr<cost::CostModel>& model, const EnvOptions& options,
                                         int count);

}  // namespace rlgo::env

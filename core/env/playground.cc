#include "core/env/playground.h"

namespace rlgo::env {

std::shared_ptr<Starts> make_starts(const EnvOptions& options, const graph::Graph& graph,
                                    const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& model) {
  if (options.frontier <= 0) return nullptr;
  return std::make_shared<Starts>(graph, rules, model, options.max_locations, options.frontier, options.search_budget,
                                  options.searches);
}

std::shared_ptr<Starts> received_starts(const EnvOptions& options, const graph::Graph& graph,
                                        const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& model) {
  EnvOptions without_searches = options;
  without_searches.searches.clear();
  return make_starts(without_searches, graph, rules, model);
}

std::unique_ptr<mdp::BatchEnv> make_envs(const std::vector<Playground>& graphs,
                                         const std::shared_ptr<const rules::RuleSet>& rules,
                                         const std::shared_ptr<cost::CostModel>& model, const EnvOptions& options,
                                         int count) {
  const auto checkpoints = std::make_shared<Checkpoints>();
  std::vector<std::unique_ptr<mdp::Env>> envs;
  for (int i = 0; i < count; ++i) {
    std::vector<std::unique_ptr<mdp::Env>> of_graphs;
    for (const auto& [graph, starts, timer] : graphs)
      of_graphs.push_back(std::make_unique<RewriteEnv>(graph, rules, model, options, timer, starts, checkpoints));
    envs.push_back(mdp::make_choice(std::move(of_graphs)));
  }
  return mdp::make_batch(std::move(envs));
}

}  // namespace rlgo::env

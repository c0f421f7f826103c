// The graphs that a run optimises: of each its model, the best that was found, and where its results go.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/whole_timing.h"
#include "core/env/rewrite_env.h"
#include "core/env/starts.h"
#include "core/optimise/model.h"
#include "core/rules/rules.h"
#include "learner/checkpoint.h"
#include "learner/session/best.h"
#include "learner/session/gains.h"
#include "learner/session/metric_row.h"
#include "learner/session/run_folder.h"

namespace rlgo::learner {

struct RunGraph {
  std::string name;   // as --graph names it
  std::string label;  // of its folder and its metrics: the name's stem, unlike those of the others
  optimise::LoadedModel model;
  RunFolder folder = {};                          // of its results: the run's, or one of its own in it
  std::unique_ptr<BestGraph> best = {};           // once it was priced
  std::shared_ptr<env::Starts> starts = nullptr;  // null: episodes begin at the unmodified graph
  std::unique_ptr<Gains> gains = {};              // of episodes in windows; null: there are none
};

// Reads the models that options name: see optimise::each_model. Throws Error where one cannot be rewritten, and
// UsageError where one is named twice.
std::vector<RunGraph> load_graphs(const optimise::ModelOptions& options, bool with_weights);
// What a run's folder is called where nobody states: of graphs, agent and seed.
std::string default_run_name(const std::vector<RunGraph>& graphs, const std::string& agent, uint64_t seed);
// Gives each its folder in that of the run, and makes it.
void make_folders(std::vector<RunGraph>& graphs, const RunFolder& run);

// Nothing better than the unmodified graph, of cost `initial_us`, is known yet.
void begin(RunGraph& graph, std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& cost,
           const env::EnvOptions& options, double initial_us);

// Geometric means over the graphs, us: the cost of the unmodified ones, and of the best.
struct OverallCost {
  double initial_us = 0, best_us = 0;
};
// These means, of graphs that have been priced.
OverallCost overall_cost(const std::vector<RunGraph>& graphs);
// Keeps the episode's cheapest graph where it is the best of its graph; then returns that. What an episode in a window
// gained is made wherever it pays and goes to the archive, too. Throws Malformed where the run has no such graph, or
// its rewrites cannot be made.
RunGraph* offer(std::vector<RunGraph>& graphs, const mdp::Trajectory& trajectory, int no_op);
// Of each graph "best_cost_us/LABEL", where there are several.
void add_best_costs(const std::vector<RunGraph>& graphs, MetricRow& row);

// The archives of all graphs, for other ranks: what they play from.
std::string encode_archives(const std::vector<RunGraph>& graphs);
void decode_archives(std::vector<RunGraph>& graphs, std::string_view bytes);
// What times the graphs that are rewritten from a model, for rewards that run them (env::times_whole); nothing for the
// others.
using TimerOf = std::function<cost::WholeTimer(const optimise::LoadedModel&)>;
// Environments on all of them: see env::make_envs.
std::unique_ptr<mdp::BatchEnv> make_envs(const std::vector<RunGraph>& graphs,
                                         const std::shared_ptr<const rules::RuleSet>& rules,
                                         const std::shared_ptr<cost::CostModel>& model, const env::EnvOptions& options,
                                         const TimerOf& timer_of, int count);
// One number for all of them: of a single graph its own.
uint64_t graphs_hash(const std::vector<RunGraph>& graphs);
// The best graphs in a checkpoint.
void store_best(const std::vector<RunGraph>& graphs, const rules::RuleSet& rules, Checkpoint& checkpoint);
// Takes them out of it; archives begin with them. Returns a line for each whose prices have changed since then: its
// best is priced again. Throws Error, which names `place`, where one is missing or of another graph.
std::vector<std::string> adopt_best(std::vector<RunGraph>& graphs, const std::shared_ptr<const rules::RuleSet>& rules,
                                    cost::CostModel& cost, int max_locations, const Checkpoint& checkpoint,
                                    const std::string& place);

}  // namespace rlgo::learner

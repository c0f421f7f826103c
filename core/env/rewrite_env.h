// The real environment: a graph, the rules that apply to it, and a reward for making it faster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/cost/cost.h"
#include "core/cost/whole_timing.h"
#include "core/env/checkpoints.h"
#include "core/env/starts.h"
#include "core/graph/graph.h"
#include "core/mdp/mdp.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"

namespace rlgo::env {

// The rewards, in units of percent of the initial cost (100 = the whole runtime saved), so that graphs
// of any size give comparable numbers.
//   R1 "step": 100 * (cost_t - cost_{t+1}) / cost_0.
//   R2 "final": 100 * (cost_0 - cost_T) / cost_0 at the end of the episode (terminal or truncated), else 0.
//   R3 "detailed": R1 plus weights times the relative decrease of flops, bytes, peak memory and launches.
//   R4 "measured": R1 with measured end-to-end time of the whole graph in place of the summed cost.
//   R5 "best": what a step adds to the best graph of its episode so far: 100 * (best_t - best_{t+1}) / cost_0.
//   Wandering after the best costs nothing.
//   "latency": R4 with errors (whole_level.h): only what is shown to be faster or slower is paid, and a timing that
//   fails costs nothing but its step.
enum class Reward : uint8_t { step, final_only, detailed, measured, best, latency };
inline constexpr Named<Reward> kRewards[] = {{"R1", Reward::step},     {"R2", Reward::final_only},
                                             {"R3", Reward::detailed}, {"R4", Reward::measured},
                                             {"R5", Reward::best},     {"latency", Reward::latency}};
// Whether a reward runs whole graphs in the target.
inline bool times_whole(Reward reward) { return reward == Reward::measured || reward == Reward::latency; }

struct EnvOptions {
  Reward reward = Reward::step;
  int max_locations = 200;  // of one rule that are offered, >= 1
  int max_steps = 200;      // after which an episode is truncated, >= 1
  // R3: weights of the relative decreases, >= 0.
  double weight_flops = 0.1, weight_bytes = 0.1, weight_peak = 0.1, weight_launches = 0.1;
  bool prices_locations = true;  // whether observations have what each location would change
  bool candidates = false;       // whether they have the graph that each location's rewrite would make: candidates.h
  double frontier = 0;           // fraction of episodes that begin within a search or in the archive, [0, 1]: starts.h
  std::vector<std::string> searches = {"greedy", "anneal", "window"};  // whose ways these are
  int64_t search_budget = 20'000;  // graphs that each of these searches may price, >= 1
  // Episodes that begin there: 0, or the most nodes of the window in which they are played (3 or more). Such an episode
  // begins where greedy descent from its start ends. It is offered the rewrites in a window around a random match that
  // lead to a graph which it has not had, and ends once it is below its beginning, or after window_steps; greedy
  // descent follows, and counts in the last step's reward.
  int window = 0;
  int window_steps = 30;
};
// Options env.*.
void declare(OptionSink& sink, EnvOptions& options);

class RewriteEnv : public mdp::Env {  // the environment of one graph and rule set
 public:
  // `starts`: where episodes begin, by the key of reset(); null: at the unmodified graph.
  // `timer` times whole graphs; throws Error where the reward needs one and it is not given, or cannot time `graph`.
  // `checkpoints`, shared with other environments or not: episodes begin sooner with them, where prices are local, and
  // as without.
  RewriteEnv(graph::Graph graph, std::shared_ptr<const rules::RuleSet> rules, std::shared_ptr<cost::CostModel> model,
             const EnvOptions& options, cost::WholeTimer timer = {}, std::shared_ptr<const Starts> starts = nullptr,
             std::shared_ptr<Checkpoints> checkpoints = nullptr);
  ~RewriteEnv() override;
  // An environment of its own in the same state, which continues from here: O(size of the graph), matches are shared
  // until they change. Both ask the same cost model.
  std::unique_ptr<RewriteEnv> fork() const;

  const mdp::ObservationSpec& spec() const override;
  mdp::Observation reset(uint64_t key) override;
  mdp::StepResult step(mdp::Action action) override;
  double initial_cost_us() const override;
  double current_cost_us() const override;
  mdp::Beginning beginning() const override;

  const graph::Graph& graph() const;  // current
  const graph::Graph& initial_graph() const;
  const rules::Trace& trace() const;         // actions since reset, NO-OP left out
  const rules::MatchIndex& matches() const;  // of the current graph

 private:
  struct Impl;
  explicit RewriteEnv(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlgo::env

// What episodes gained, taken further: a gain is freed of rewrites that it does not need and made wherever it pays.
#pragma once

#include <memory>
#include <optional>

#include "core/cost/cost.h"
#include "core/env/starts.h"
#include "core/graph/graph.h"
#include "core/mdp/mdp.h"
#include "core/rules/rules.h"
#include "core/search/macro.h"
#include "core/search/walk.h"
#include "learner/session/best.h"

namespace rlgo::learner {

class Gains {
 public:
  // Of episodes on `graph`. Refers to the cost model.
  Gains(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& cost,
        int max_locations);
  // The way to the graph that is made of an episode that, followed by greedy descent, ends below the graph that it
  // began with; nothing where it does not. Throws Error where the episode's rewrites cannot be made.
  std::optional<env::Way> take(const mdp::Trajectory& episode);
  // Graphs that were priced for it.
  int64_t tried() const { return walk_.tried(); }

 private:
  search::Taken follow(const rules::Rewrite& rewrite);

  const graph::Graph& graph_;
  std::shared_ptr<const rules::RuleSet> rules_;
  cost::CostModel& cost_;
  const int max_locations_;
  const double tolerance_us_;
  search::Walk walk_;
  const search::Walk::Mark unmodified_;
};

// An episode in a window that was rewarded: what it gained goes to its island's archive, and is the best where it is
// cheaper; true then. Throws Error as Gains::take() does.
bool keep_gain(const mdp::Trajectory& episode, Gains& gains, BestGraph& best, env::Starts& starts);

}  // namespace rlgo::learner

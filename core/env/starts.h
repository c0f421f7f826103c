// Where episodes start besides the unmodified graph: on the way that searches took (frontier starts; Ecoffet et al.
// 2021, "First return, then explore").
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"

namespace rlgo::env {

// The first `length` rewrites of a way.
struct Start {
  const rules::Trace* way = nullptr;
  const std::vector<double>* cost_us = nullptr;  // of the graph after each rewrite of the way
  size_t length = 0;
};

class Starts {  // the frontier that episodes may begin on
 public:
  // Ways of greedy search, annealing and windows, each at most `budget` priced graphs. They depend on the arguments
  // alone. `share` of all episodes begin on one of them.
  Starts(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& cost,
         int max_locations, double share, int64_t budget = 20'000);
  // Where the episode with this key begins; nothing: at the unmodified graph.
  std::optional<Start> of(uint64_t key) const;
  size_t ways() const { return ways_.size(); }
  // A way: rewrites from the unmodified graph, and the cost after each.
  struct Way {
    rules::Trace rewrites;
    std::vector<double> cost_us;
  };
  // To the cheapest graph that the searches found; empty where none got below the unmodified graph.
  const Way& best() const { return best_; }

 private:
  void keep_best(const Way& way, double before_us);

  double share_;
  std::vector<Way> ways_;
  Way best_;
};

}  // namespace rlgo::env

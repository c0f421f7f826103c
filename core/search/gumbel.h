// The arithmetic of planning with few simulations (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR
// 2022), for one graph of the tree. Values are savings: higher is better.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/rng.h"

namespace rlgo::search {

// The actions of a graph, and what the simulations of the move in hand found behind them.
struct Branches {
  std::vector<double> logits;  // of the policy; -inf: never to be taken
  std::vector<int> visits;     // by action
  std::vector<double> sums;    // of the values of these visits
  double value = 0;            // what the graph was valued at when it was entered

  // The actions by their logits, and the value of the graph.
  void add(std::vector<double> of_policy, double of_graph);
  void forget_visits();  // of the move before
  // A simulation that took an action came to a value.
  void visit(size_t action, double found);
  int visited() const;
};

// What an action's logit is raised by: its mean value, or, where it was not visited, what the paper's equation 33 mixes
// of the graph's own value and of those that were visited; times `scale` and the more, the more visits there are.
std::vector<double> value_logits(const Branches& branches, double scale);

// Within the tree, without chance: the action whose visits lag furthest behind the improved policy (equation 14). The
// first of equals; there is one that may be taken.
size_t lagging_action(const Branches& branches, double scale);

// Of each of `simulations`, how often the action that it tries was tried before it, where sequential halving deals them
// out to `considered` actions: all as often in a round, half of the actions in the next.
std::vector<int> considered_visits(int considered, int simulations);

// At the root: some actions drawn without replacement, simulations for them by sequential halving, then the best.
class RootChoice {
 public:
  // Draws at most `considered` actions. Refers to the branches.
  RootChoice(const Branches& branches, double scale, int considered, int simulations, Rng& rng);

  // The action that the next simulation tries.
  size_t next();
  // Of those that were tried most often, the one to take. Nothing where none may be taken any more.
  std::optional<size_t> best() const;

 private:
  // The highest of those with so many visits, the first of equals.
  std::optional<size_t> highest(int visits, bool may_be_taken) const;

  const Branches& branches_;
  const double scale_;
  std::vector<size_t> considered_;
  std::vector<double> drawn_;  // [considered_] logit and Gumbel noise
  std::vector<int> schedule_;  // considered_visits()
  size_t done_ = 0;            // simulations
};

}  // namespace rlgo::search

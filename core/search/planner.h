// Moves in a window of a graph by planning with the exact simulator: Gumbel AlphaZero (gumbel.h).
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/rng.h"
#include "core/search/gumbel.h"
#include "core/search/macro.h"
#include "core/search/region.h"
#include "core/search/walk.h"

namespace rlgo::search {

// Before each move of an episode so many simulations go down a tree of graphs. The actions of a graph are the rewrites
// of the window that lead to a graph which is not on the way to it, and NO-OP, which ends the episode. What a
// simulation is worth is the lowest cost on its way: costs are exact, and the graph at which it leaves the tree counts
// with what the agent expects to come to from there, or, where it has no values, with its best single rewrite.
//
// Graphs are kept over the episodes that begin at one graph, so each is built and its rewrites are priced once; what
// the agent says of it is kept for the episode.
class Planner {
 public:
  // `unit_us`: values are in units of it.
  Planner(std::unique_ptr<PolicyPrior> prior, int simulations, int considered, double unit_us);

  struct Episode {
    const Region& window;
    double initial_us = 0;          // of the unmodified graph
    double goal_us = 0;             // the episode ends where the lowest cost is known to be, once that is below this
    int horizon = 0;                // moves
    std::function<bool()> may_try;  // asked before each graph that is built; false ends the episode
  };
  // Plays one from the walk's graph. Leaves the walk at its end, and returns the rewrites that lead there.
  std::vector<Taken> play(Walk& walk, const Episode& episode, Rng& rng);

 private:
  // A graph that was built.
  struct Built {
    std::shared_ptr<const Built> from;  // null: episodes begin here
    Taken by;
    Walk::Mark mark;
  };
  // A graph of the tree.
  struct Node {
    std::shared_ptr<const Built> built;
    std::vector<size_t> places;  // that may be taken; the action after them is NO-OP
    Branches branches;
    bool entered = false;  // by a simulation of this move
  };
  struct Step {
    Node* at;
    size_t action;
  };

  void begin(const Walk& walk);
  bool may_try();
  // What an action of a graph leads to. Null where it cannot be built.
  Node* reach(Node& from, size_t action);
  std::shared_ptr<const Built> build(const Node& from, size_t place);
  Node& enter(std::shared_ptr<const Built> built);
  void find_actions(Node& node) const;
  void judge(Node& node);
  void simulate(Node& root, size_t action, int depth);
  // The action that is taken. Nothing where the episode ends here.
  std::optional<size_t> decide(Node& root, int depth, Rng& rng);
  void forbid_played(Node& node) const;
  std::vector<Taken> end_at(const std::shared_ptr<const Built>& built);

  const std::unique_ptr<PolicyPrior> prior_;
  const int simulations_, considered_;
  const double unit_us_;
  uint64_t start_ = 0;      // stamp of the graph where the episodes of graphs_ begin
  int64_t bytes_each_ = 0;  // about what a graph of graphs_ holds
  std::unordered_map<uint64_t, std::shared_ptr<const Built>> graphs_;  // by hash
  // Of the episode in hand.
  Walk* walk_ = nullptr;
  const Episode* episode_ = nullptr;
  bool ended_ = false;
  int64_t tries_ = 0;
  std::unordered_map<uint64_t, Node> nodes_;  // by hash
  std::unordered_set<uint64_t> played_;       // hashes of the graphs that it came through
  std::shared_ptr<const Built> best_;         // the graph from which the lowest cost is known to be reached
  double best_us_ = 0;                        // that cost
  double begin_us_ = 0;                       // of the graph that it began with
};

}  // namespace rlgo::search

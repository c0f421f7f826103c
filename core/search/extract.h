// Takes the cheapest graph out of an e-graph.
#pragma once

#include <optional>
#include <vector>

#include "core/cost/cost.h"
#include "core/search/egraph.h"

namespace rlgo::search {

// The e-node that computes each class, by class: kNoNode where the class is not needed.
using Choice = std::vector<graph::NodeId>;

// What an e-graph costs: prices of e-nodes, and which classes cost nothing (constants, which are folded at export, and
// inputs). E-nodes that cannot be better than another maker of their class (no cheaper, and they read the same and
// more) are not looked at.
class Extraction {
 public:
  // `original`: the e-graph's unmodified graph. Both must outlive it.
  Extraction(const EGraph& egraph, const graph::Graph& original, cost::CostModel& cost);

  // Of each class the e-node with the smallest sum of costs below it, as if nothing were shared (TENSAT's greedy
  // extraction, which is also egg's).
  Choice greedy() const;
  // The oldest e-node of each class: the unmodified graph, but for e-nodes that are not looked at.
  Choice oldest() const;
  // Changes a choice, one e-node for all classes that it makes at a time, as long as that lowers the cost.
  Choice improved(Choice choice) const;
  struct Solved {
    Choice choice;
    double bound_us = 0;  // no choice costs less
    bool optimal = false;
  };
  // The integer program: minimises the costs of the e-nodes chosen, each of which needs its inputs. Starts from
  // `start`; ends after `seconds` with the best so far. Nothing where the solver finds none.
  std::optional<Solved> solve(const Choice& start, double seconds) const;

  double cost_us(const Choice& choice) const;      // of the chosen nodes, each once
  graph::Graph build(const Choice& choice) const;  // the graph of the chosen nodes
  // E-nodes that a choice can take.
  size_t candidates() const;

 private:
  std::vector<EGraph::ClassId> needed(const Choice& choice) const;
  template <class Better>
  Choice choose(const Better& better) const;
  void find_free();
  void find_makers();
  void leave_out_worse(EGraph::ClassId id);
  std::vector<std::vector<EGraph::ClassId>> dominators() const;
  bool is_free(EGraph::ClassId id) const { return free_[id] != graph::kNoNode; }
  // Classes that an e-node reads and that cost something, sorted, each once.
  std::vector<EGraph::ClassId> reads(graph::NodeId id) const;
  bool makes_one(graph::NodeId id) const { return egraph_.graph().node(id).info->outputs.size() == 1; }

  const EGraph& egraph_;
  const graph::Graph& original_;
  std::vector<double> us_;                          // by node
  std::vector<graph::NodeId> free_;                 // by class: what computes it at no cost, or kNoNode
  std::vector<std::vector<graph::NodeId>> makers_;  // by class that costs something: what may be chosen
};

}  // namespace rlgo::search

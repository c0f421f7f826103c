// What an agent has learned, as a chain of annealing asks for it (chain.h).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/search/walk.h"

namespace rlgo::search {

// The agent is asked about a graph as a whole; what it said of a match holds as long as the match is there, and a match
// that came since is as good as those of its rule were on average. So a round of annealing, which begins again and
// again at the same graph, costs a pass of the network only where the graph is another one.
class Guide {
 public:
  // `moves`: of a round after which the agent is asked anew; 0: at its beginning only.
  Guide(std::unique_ptr<PolicyPrior> prior, int moves) : prior_(std::move(prior)), moves_(moves) {}

  // A round begins at the walk's graph.
  void begin(const Walk& walk, const Position& at);
  // It has made a move.
  void moved(const Walk& walk, const Position& at);
  // The learned logit of a place, less the highest of all places: 0 where all are alike.
  double logit(const Place& place) const;

 private:
  void ask(const Walk& walk, const Position& at);

  std::unique_ptr<PolicyPrior> prior_;
  const int moves_;
  int made_ = 0;  // moves of this round
  uint64_t stamp_ = 0;
  bool asked_ = false;
  std::unordered_map<const rules::Match*, double> of_match_;
  std::vector<std::shared_ptr<const Move>> kept_;  // so that no other match takes the address of one
  std::vector<double> of_rule_;
  double mean_ = 0;
};

}  // namespace rlgo::search

// One chain of annealed windows: what each thread of `anneal` runs.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/search/heat_bath.h"
#include "core/search/macro.h"
#include "core/search/walk.h"

namespace rlgo::search {

// Costs are sums over nodes and rewrites are local, so a change that pays is found and judged where it is made: a round
// opens a small window around a random match, moves in it by a heat bath (candidates drawn by exp(-delta / T), each
// graph once), descends greedily, and is taken back unless the graph got cheaper. What did pay is minimised and made at
// every place where it pays as well (macro.h). Sizes of windows, lengths of rounds and temperatures are drawn again for
// each round, over ranges that are wide enough for all graphs: there is nothing to tune.
//
// Rounds without gain end an episode. The next one starts at the best graph after a kick (a long walk in one window,
// kept), or at the unmodified graph.
class Chain {
 public:
  // Asked before each rewrite that is tried or made; false ends the search.
  using Allowance = Walk::Allowance;
  // `unit_us`: temperatures are multiples of it. Refers to the cost models.
  Chain(const State& start, cost::CostModel& cost, cost::CostModel& measured, int max_locations, double unit_us,
        double tolerance_us, Rng rng, Allowance may_try);

  // `improved` receives each graph that is better than all before.
  void run(int rounds, const std::function<void(const Walk::Mark&)>& improved);
  const Walk::Mark& best() const { return best_; }
  // What paid since the last call, minimised.
  std::vector<Macro> take_learned() { return std::exchange(learned_, {}); }
  // The best of all chains: gone on from at once in an episode that began with the best, else after it.
  void adopt(const Walk::Mark& best);
  // Makes others' macros on the best graph.
  void make(std::span<const Macro> macros);
  // False where no rewrite can be made from the unmodified graph or from the best.
  bool can_move() const { return !start_.places.empty() || !best_.places.empty(); }
  int64_t moves() const { return walk_.moves(); }

 private:
  bool may_continue() const { return !ended_; }
  bool may_try();
  bool take(size_t k);
  void descend();
  bool step(double temperature_us);
  void bathe(size_t window, int length, double temperature_us, double goal_us);
  void round();
  void learn();
  void keep_best();
  void next_episode();

  Allowance may_try_;
  bool ended_ = false;
  Walk walk_;
  const double unit_us_, tolerance_us_;
  Rng rng_;
  Walk::Mark start_, current_, best_;
  const std::function<void(const Walk::Mark&)>* improved_ = nullptr;
  bool begun_ = false, from_best_ = true;
  int rounds_without_gain_ = 0, patience_;
  std::vector<Taken> taken_;  // of this round
  std::vector<Macro> learned_;

  HeatBath bath_;
};

}  // namespace rlgo::search

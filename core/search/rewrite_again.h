// Windows of the unmodified graph, rewritten in another order than the best graph was: a part of `portfolio`.
#pragma once

#include <limits>
#include <unordered_set>
#include <vector>

#include "core/base/rng.h"
#include "core/search/context.h"
#include "core/search/heat_bath.h"
#include "core/search/macro.h"

namespace rlgo::search {

// All other searches continue from a graph in which what saves most was done first. That can be in the way of more:
// once queries, keys and values are one product, the factor of the queries alone cannot go into its weights any more,
// and to take the product apart again costs several times what the factor saves. So small windows are rewritten again
// where nothing was done yet, in random order (by a heat bath, then greedily). Where one ends cheaper than by greedy
// descent, and than by the best graph's own rewrites of the window, its rewrites go first: they are made on the
// unmodified graph, wherever they pay, then those of the best graph that still apply, then what saves most.
class RewriteAgain {
 public:
  // Refers to the context.
  explicit RewriteAgain(Context& context);

  // Goes on where it stopped, until budget or stop() of the context end the search, or about `tries` graphs more were
  // priced.
  void run(int64_t tries = std::numeric_limits<int64_t>::max());
  // Budget or stop() returned true.
  bool ended() const { return ended_; }
  // False where there is nothing to do again: no rewrite of the unmodified graph, or none that the best graph came by.
  bool can_move() const { return !start_.places.empty() && best_.depth > 0; }
  const Walk::Mark& best() const { return best_; }
  // The graph that is to be improved, where it costs less than the one before.
  void adopt(const Walk::Mark& best);

 private:
  bool may_try();
  bool take(size_t place);
  bool take_inside(size_t place);
  void descend();
  void descend_inside();
  void record_best();
  void replay_best();
  void replay_best_inside();
  double known_us(const HeatBath& window);
  void search_window();
  void bathe();
  int64_t saved() const;
  bool put_first(std::vector<Taken> taken);

  Context& context_;
  Rng rng_;
  const double tolerance_us_;
  double unit_us_ = 0;
  bool ended_ = false;
  Walk walk_;
  const Walk::Mark start_;
  Walk::Mark best_;
  Macro of_best_;          // the rewrites of the best graph
  uint64_t recorded_ = 0;  // the graph that of_best_ leads to, by its stamp
  HeatBath window_;
  std::vector<Taken> taken_;              // in the window
  std::unordered_set<int64_t> compared_;  // what windows saved that did not pay, by saved()
  int64_t moves_ = 0;                     // that are counted
};

}  // namespace rlgo::search

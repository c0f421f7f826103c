// Chains that anneal side by side: the method `anneal`, and a part of `portfolio`.
#pragma once

#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "core/search/chain.h"
#include "core/search/context.h"

namespace rlgo::search {

// As many chains (chain.h) as options.threads, each in a thread of its own. Now and then they send each other what they
// found; what a chain does between depends on its seed alone.
class Annealing {
 public:
  // Begins at the unmodified graph. Refers to the context.
  explicit Annealing(Context& context);

  // Goes on where it stopped, until budget or stop() of the context end the search, no rewrite can be made, or about
  // `tries` graphs more were priced.
  void run(int64_t tries = std::numeric_limits<int64_t>::max());
  // Budget or stop() returned true.
  bool ended() const { return stopped_; }
  // False where no rewrite can be made, from the unmodified graph or from the best.
  bool can_move() const { return chains_[0]->can_move(); }
  const Walk::Mark& best() const { return chains_[0]->best(); }
  // Goes on from another graph where that costs less.
  void adopt(const Walk::Mark& best);

 private:
  void share_budget();
  bool may_try(size_t t);
  void run_chain(size_t t);
  void run_chains();
  void offer(const Walk::Mark& best);
  void exchange();
  void count_moves();

  Context& context_;
  std::vector<std::unique_ptr<Chain>> chains_;
  std::vector<int64_t> allowed_, tried_;  // by thread; tried_ of those that are not counted yet
  int64_t moves_ = 0;                     // that are counted
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace rlgo::search

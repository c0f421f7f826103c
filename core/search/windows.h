// Windows that are searched exhaustively: the method `window`, and a part of `portfolio`.
#pragma once

#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/search/context.h"
#include "core/search/macro.h"
#include "core/search/walk.h"

namespace rlgo::search {

// Costs are sums over nodes and rewrites are local: what pays is a short sequence of rewrites near one another. Each
// window (a match and what its rewrite reaches) is searched exhaustively to a depth, once for all windows that look the
// same; what pays in one is made in all. Where nothing pays any more, the depth grows.
class Windows {
 public:
  // Begins at the unmodified graph. Refers to the context.
  explicit Windows(Context& context);

  // Goes on where it stopped, until budget or stop() of the context end the search, there is nothing left to search, or
  // about `tries` graphs more were priced. A window that this cuts short is searched again the next time.
  void run(int64_t tries = std::numeric_limits<int64_t>::max());
  // Nothing is left to search, but for what adopt() brings.
  bool finished() const { return finished_; }
  // Budget or stop() returned true.
  bool ended() const { return ended_; }
  const Walk::Mark& best() const { return best_; }
  // Goes on from another graph where that costs less: with small windows again, as far as it has not seen them.
  void adopt(const Walk::Mark& best);
  void adopt(const State& best);

 private:
  struct Searched {
    int depth = 0;
    bool cut = false;  // it continues beyond the depth
  };

  bool may_try();
  bool may_continue();
  void keep_best();
  void descend();
  std::vector<uint64_t> labels() const;
  bool search_windows();
  void explore(size_t k, int depth);
  bool is_near(const rules::Match& match) const;
  void make_found();

  Context& context_;
  bool begun_ = false, ended_ = false, finished_ = false;
  int64_t pause_at_ = 0;  // Counters::candidates
  int64_t moves_ = 0;     // that are counted
  Walk walk_;
  Walk::Mark best_;
  int depth_ = 2;
  bool cut_ = false;                              // some window continues beyond the depth
  bool window_cut_ = false;                       // the window in hand does
  std::unordered_map<uint64_t, Searched> known_;  // windows that were searched
  std::unordered_set<uint64_t> seen_;             // graphs of this window
  std::vector<Taken> path_, found_;
  double found_us_ = 0;
};

}  // namespace rlgo::search

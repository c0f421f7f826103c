// Backtracking of TASO (Jia et al. 2019, algorithm 2): a queue ordered by cost.
//
// The queue holds children, not graphs: a graph is built when it is taken from the queue, from the parent that all its
// brothers share. So an entry is small, and most graphs that are priced are never built.
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "core/search/context.h"

namespace rlgo::search {

// Whether a match may be made: where only a part of the graph is searched. May be empty.
using Filter = std::function<bool(const rules::Match& match)>;

class Backtracking {
 public:
  explicit Backtracking(Context& context, Filter inside = nullptr);

  // Goes on from graphs that cost less than alpha times the best, the cheapest first. Ends where the queue is empty,
  // after `expansions` graphs (0: no limit), or where the context reports so; false in these two cases.
  bool run(const StatePtr& start, int64_t expansions);
  // The best graph of run().
  const StatePtr& best() const { return best_; }

 private:
  struct Entry {
    double cost_us = 0;
    int64_t number = 0;  // of equal costs the earlier one is taken first
    StatePtr from;       // null: the first graph
    rules::Rewrite step;
    StatePtr built;  // where it had to be built already: it was the best so far
  };
  static bool later(const Entry& a, const Entry& b);
  std::vector<rules::Rewrite> choose(const State& state) const;
  void push(Entry entry);
  std::vector<StatePtr> take();
  void consider(const StatePtr& from, const Child& child, double bound_us);
  void respect_memory();
  int64_t used_bytes() const;

  Context& context_;
  Filter inside_;
  StatePtr best_;
  std::vector<Entry> queue_;  // a heap
  std::unordered_set<uint64_t> visited_;
  int64_t number_ = 0, taken_ = 0, held_bytes_ = 0;
};

}  // namespace rlgo::search

// What all methods share: budget, clock, and the best graph so far. Methods themselves: one file each, declared below.
#pragma once

#include <optional>

#include "core/base/stopwatch.h"
#include "core/search/search.h"

namespace rlgo::search {

class Session {
 public:
  Session(const Problem& problem, const Options& options);

  // False where budget or stop() ends the search; the reason is then noted.
  bool may_continue();
  // Makes and prices the graph behind one match. Nothing where it does not apply.
  struct Candidate {
    rules::Rewrite rewrite;
    double delta_us;  // against `from`
  };
  std::optional<Candidate> price(const graph::Graph& from, const rules::Match& match);
  // Keeps the graph where its cost is below the best so far.
  void offer(const graph::Graph& graph, double cost_us, const Trace& trace);

  const Problem& problem() const { return problem_; }
  const Options& options() const { return options_; }
  double before_us() const { return result_.before_us; }
  Counters& counters() { return result_.counters; }
  // Changes below this are rounding, not improvement, us.
  double tolerance_us() const { return 1e-9 * result_.before_us; }
  Result finish();

 private:
  const Problem& problem_;
  const Options& options_;
  Stopwatch watch_;
  Result result_;
};

// The best single rewrite, again and again, until none lowers the cost.
Result greedy(const Problem& problem, const Options& options);
// Random walks from the original graph: a rule that applies, then one of its locations, both uniformly.
Result random_walks(const Problem& problem, const Options& options);

}  // namespace rlgo::search

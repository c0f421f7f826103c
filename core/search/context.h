// What all methods share: budget, clock, threads, and the best graph so far. Methods: one file each, declared below.
#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "core/search/clock.h"
#include "core/search/state.h"
#include "core/search/walk.h"

namespace rlgo::search {

class Context {
 public:
  Context(const Problem& problem, const Options& options);

  // The unmodified graph. Its matches are those found before options.stop() returned true.
  StatePtr start();
  // False where budget or stop() ends the search; the reason is then noted.
  bool may_continue();
  // Rewrites of each of several states, in the order of `tried`, with their costs, by options.threads threads; those
  // that do not apply are left out. Ends early, with what there is, where budget or stop() demand it. How the budget is
  // dealt out does not depend on the threads.
  std::vector<std::vector<Child>> evaluate(std::span<const StatePtr> states,
                                           std::span<const std::vector<rules::Rewrite>> tried);
  // The same, all rewrites of one state.
  std::vector<Child> evaluate(const StatePtr& state);
  // One rewrite. Nothing where prices are not known yet (while the cost model defers).
  std::optional<Child> evaluate_known(const StatePtr& state, const rules::Rewrite& step);
  // Builds a child. Null where it does not apply after all. Not charged to the budget.
  StatePtr build(const State& from, const rules::Rewrite& step);
  // What one of options.threads threads may ask.
  ThreadCost& thread_cost(size_t thread) { return costs_[thread]; }
  // Matches that may still be tried.
  int64_t budget_left() const { return options_.budget - result_.counters.candidates - result_.counters.refused; }
  // Keeps a state where its cost is below the best so far.
  void offer(const State& state);
  void offer(const Walk::Mark& mark);
  bool improves(double cost_us) const { return cost_us < result_.after_us - tolerance_us(); }

  const Problem& problem() const { return problem_; }
  const Options& options() const { return options_; }
  double before_us() const { return result_.before_us; }
  double best_us() const { return result_.after_us; }
  Counters& counters() { return result_.counters; }
  void end(StopReason reason) { result_.reason = reason; }
  void note(std::string line) { result_.note = std::move(line); }  // Result::note
  // Changes below this are rounding, not improvement, us.
  double tolerance_us() const { return 1e-9 * result_.before_us; }
  // About the mean cost of an operator of the unmodified graph, us, > 0: what temperatures are multiples of.
  double unit_us() const;
  Result finish();

 private:
  struct Job;
  void work(Job& job, cost::CostModel& cost, bool asks);
  void work_all(Job& job);
  void evaluate_all(Job& job);

  const Problem& problem_;
  const Options& options_;
  SharedCost shared_;
  std::vector<ThreadCost> costs_;  // one per thread
  SearchClock clock_;
  StatePtr start_;
  Result result_;
};

// The best single rewrite, again and again, until none lowers the cost.
Result greedy(const Problem& problem, const Options& options);
// All rewrites that lower the cost, the best first, as long as each still does; again and again, until none does. Far
// fewer graphs are priced than by greedy, and costs that are measured on demand are measured many at a time.
Result sweep(const Problem& problem, const Options& options);
// Simulated annealing in small windows of the graph; what pays in one is made wherever it pays: see chain.h.
Result anneal(const Problem& problem, const Options& options);
// Exhaustive search of small windows, once for all that look the same, deeper and deeper: see window.cc.
Result window(const Problem& problem, const Options& options);
// Both of these in turns with rewriting from scratch (rewrite_again.h) or taso, each from the best graph: portfolio.cc.
Result portfolio(const Problem& problem, const Options& options);
// MetaFlow (Jia et al., SysML 2019): backtracking in the parts of a graph that is split where few rewrites are, then
// around the cuts.
Result metaflow(const Problem& problem, const Options& options);
// Random walks from the original graph: a rule that applies, then one of its locations, both uniformly.
Result random_walks(const Problem& problem, const Options& options);
// Backtracking of TASO (Jia et al. 2019, algorithm 2; section 3.2): a queue ordered by cost, of graphs that cost less
// than alpha times the best.
Result taso(const Problem& problem, const Options& options);
// Equality saturation and extraction, as TENSAT (Yang et al. 2021).
Result egraph(const Problem& problem, const Options& options);
// The beam_width cheapest graphs that are one rewrite further, again and again.
Result beam(const Problem& problem, const Options& options);

}  // namespace rlgo::search

// Searches that find different things take turns, each from the best graph of all: windows see all that is a few
// rewrites away, annealing what is further, and rewriting from scratch what the first rewrites of the others stand in
// the way of. Which finds more, and when, depends on the graph. Where prices depend on their surroundings, a move of
// any prices most of the graph again: there backtracking, which sees ten times as many graphs in a second, has its turn
// in place of rewriting from scratch.
#include <algorithm>
#include <memory>
#include <optional>

#include "core/search/annealing.h"
#include "core/search/backtracking.h"
#include "core/search/rewrite_again.h"
#include "core/search/windows.h"

namespace rlgo::search {
namespace {

constexpr double kFirstTurn = 8000, kFirstExpensiveTurn = 1000;  // graphs priced; where a move prices most of a graph
constexpr double kFirstWindows = 32'000;      // mostly they find the most that can be found in this time
constexpr double kLonger = 1.5;               // than the turn before
constexpr double kLeastFraction = 0.25;       // of a turn
constexpr int64_t kBacktrackingsGraphs = 10;  // in the time in which the others price one

class Portfolio {
 public:
  explicit Portfolio(const Problem& problem, const Options& options)
      : context_(problem, options), windows_(context_), annealing_(context_), local_(problem.cost.is_local()) {}

  Result run() {
    search_windows(local_ ? kFirstWindows : kFirstExpensiveTurn);
    for (double turn = local_ ? kFirstTurn : kFirstExpensiveTurn; goes_on_; turn = std::min(turn * kLonger, 1e15)) {
      search_again(turn);
      if (goes_on_) anneal(turn);
      if (goes_on_) search_windows(turn * kLonger);
    }
    return context_.finish();
  }

 private:
  // Windows that found nothing are deeper the next time, and find less, as annealing does in a graph that it has
  // annealed: they get half as long. What rewriting from scratch finds comes late and is much; it keeps its time.
  void set_fraction(double& fraction, double before_us) const {
    const bool found = context_.best_us() < before_us - context_.tolerance_us();
    fraction = found || !local_ ? 1.0 : std::max(kLeastFraction, fraction / 2);
  }

  void search_windows(double tries) {
    const double before_us = context_.best_us();
    windows_.run(static_cast<int64_t>(tries * windows_fraction_));
    set_fraction(windows_fraction_, before_us);
    goes_on_ = !windows_.ended();
  }

  void search_again(double tries) {
    if (!local_) return backtrack(tries);
    if (!again_) again_.emplace(context_);
    again_->adopt(windows_.best());
    again_->run(static_cast<int64_t>(tries));
    windows_.adopt(again_->best());
    goes_on_ = !again_->ended();
  }

  // Goes on from the best graph by TASO's search, for as long as windows take for `tries` graphs.
  void backtrack(double tries) {
    const Walk::Mark& from = windows_.best();
    if (from.places.empty()) return;
    const auto children = static_cast<int64_t>(from.places.size());
    const State start{from.graph, from.index, from.hash, from.cost_us, from.depth, from.trail};
    Backtracking search(context_, nullptr);
    search.run(std::make_shared<const State>(start), 1 + kBacktrackingsGraphs * static_cast<int64_t>(tries) / children);
    windows_.adopt(*search.best());
    goes_on_ = !windows_.ended();
  }

  void anneal(double tries) {
    annealing_.adopt(windows_.best());
    goes_on_ = !windows_.finished() || annealing_.can_move();
    if (!goes_on_) return;
    const double before_us = context_.best_us();
    annealing_.run(static_cast<int64_t>(tries * annealing_fraction_));
    set_fraction(annealing_fraction_, before_us);
    windows_.adopt(annealing_.best());
    goes_on_ = !annealing_.ended();
  }

  Context context_;
  Windows windows_;
  Annealing annealing_;
  std::optional<RewriteAgain> again_;  // costs of all rewrites: not before its first turn
  const bool local_;
  double windows_fraction_ = 1, annealing_fraction_ = 1;  // of a turn
  bool goes_on_ = true;
};

}  // namespace

Result portfolio(const Problem& problem, const Options& options) { return Portfolio(problem, options).run(); }

}  // namespace rlgo::search

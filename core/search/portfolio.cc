// Searches that find different things take turns, each from the best graph of all: windows see all that is a few
// rewrites away, annealing what is further. Which finds more, and when, depends on the graph. Where prices depend on
// their surroundings, a move of either prices most of the graph anew: there backtracking, which sees ten times as many
// graphs in a second, has its turn too.
#include <algorithm>
#include <memory>

#include "core/search/annealing.h"
#include "core/search/backtracking.h"
#include "core/search/windows.h"

namespace rlgo::search {
namespace {

constexpr int64_t kFirstTurn = 8000, kFirstDearTurn = 1000;  // graphs priced; where a move prices most of a graph
constexpr int64_t kFirstWindows = 32'000;                    // mostly they find the most that can be found in this time
constexpr double kLonger = 1.5;                              // than the turn before
constexpr int64_t kBacktrackingsGraphs = 10;                 // in the time in which the others price one

// Goes on from the best graph by TASO's search, for as long as windows take for `tries` graphs.
void backtrack(Context& context, Windows& windows, int64_t tries) {
  const Walk::Mark& from = windows.best();
  if (from.places.empty()) return;
  const auto children = static_cast<int64_t>(from.places.size());
  const State start{from.graph, from.index, from.hash, from.cost_us, from.depth, from.trail};
  Backtracking search(context, nullptr);
  search.run(std::make_shared<const State>(start), 1 + kBacktrackingsGraphs * tries / children);
  windows.adopt(*search.best());
}

}  // namespace

Result portfolio(const Problem& problem, const Options& options) {
  Context context(problem, options);
  Windows windows(context);
  Annealing annealing(context);
  const bool local = problem.cost.is_local();
  for (double turn = local ? kFirstTurn : kFirstDearTurn;; turn *= kLonger) {
    const auto tries = static_cast<int64_t>(std::min(turn, 1e15));
    windows.run(local && turn == kFirstTurn ? kFirstWindows : tries);
    if (!windows.ended() && !local) backtrack(context, windows, tries);
    if (windows.ended()) break;
    annealing.adopt(windows.best());
    if (windows.finished() && !annealing.can_move()) break;
    annealing.run(tries);
    if (annealing.ended()) break;
    windows.adopt(annealing.best());
  }
  return context.finish();
}

}  // namespace rlgo::search

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/search/context.h"

namespace rlgo::search {
namespace {

// Index of the chosen move, or of none where the graph is left as it is.
std::optional<size_t> choose(const PolicyPrior::Scores& scores, Rng* rng) {
  if (rng == nullptr) {
    const auto best = std::ranges::max_element(scores.moves);
    if (best == scores.moves.end() || *best <= scores.stop) return std::nullopt;
    return static_cast<size_t>(best - scores.moves.begin());
  }
  double total = std::exp(static_cast<double>(scores.stop));
  for (const float score : scores.moves) total += std::exp(static_cast<double>(score));
  double left = rng->uniform() * total;
  for (size_t k = 0; k < scores.moves.size(); ++k) {
    left -= std::exp(static_cast<double>(scores.moves[k]));
    if (left < 0) return k;
  }
  return std::nullopt;
}

// One walk from the original graph, greedy where rng is null; false where the search must end.
bool walk(Context& context, StatePtr state, Rng* rng) {
  for (int k = 0; k < context.options().walk_length; ++k) {
    const int max_locations = context.options().max_locations;
    const std::vector<rules::Rewrite> steps = state->steps(max_locations);
    if (steps.empty()) return true;
    if (!context.may_continue()) return false;
    const auto scores =
        context.options().prior->rank(state->graph, state->index, max_locations, context.position(*state));
    const auto chosen = choose(scores, rng);
    if (!chosen) return true;
    const StatePtr next = context.build(*state, steps.at(*chosen));
    ++(next ? context.counters().candidates : context.counters().refused);
    if (!next) return true;
    state = next;
    ++context.counters().steps;
    context.offer(*state);
  }
  return true;
}

}  // namespace

Result policy(const Problem& problem, const Options& options) {
  Context context(problem, options);
  const StatePtr start = context.start();
  if (start->index.total() == 0) return context.finish();
  for (int number = 0; number < options.walks; ++number) {
    ++context.counters().walks;
    Rng rng({options.seed, static_cast<uint64_t>(number)});
    if (!context.may_continue() || !walk(context, start, number == 0 ? nullptr : &rng)) break;
    if (options.progress) options.progress(context.counters(), context.best_us());
  }
  return context.finish();
}

}  // namespace rlgo::search

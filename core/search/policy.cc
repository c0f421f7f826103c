#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/search/session.h"

namespace rlgo::search {
namespace {

// Index of the chosen move, or of none where the graph is left as it is.
std::optional<size_t> choose(const Ranker::Scores& scores, Rng* rng) {
  if (rng == nullptr) {
    const auto best = std::ranges::max_element(scores.moves);
    if (best == scores.moves.end() || *best < scores.stop) return std::nullopt;
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
bool walk(Session& session, StatePtr state, Rng* rng) {
  for (int k = 0; k < session.options().walk_length; ++k) {
    const int max_locations = session.options().max_locations;
    const std::vector<Step> steps = state->steps(max_locations);
    if (steps.empty()) return true;
    if (!session.may_continue()) return false;
    const auto scores =
        session.options().ranker->rank(state->graph, state->index, max_locations, session.position(*state));
    const auto chosen = choose(scores, rng);
    if (!chosen) return true;
    const StatePtr next = session.build(*state, steps.at(*chosen));
    ++(next ? session.counters().candidates : session.counters().refused);
    if (!next) return true;
    state = next;
    ++session.counters().steps;
    session.offer(*state);
  }
  return true;
}

}  // namespace

Result policy(const Problem& problem, const Options& options) {
  Session session(problem, options);
  const StatePtr start = session.start();
  if (start->index.total() == 0) return session.finish();
  for (int number = 0; number < options.walks; ++number) {
    ++session.counters().walks;
    Rng rng({options.seed, static_cast<uint64_t>(number)});
    if (!session.may_continue() || !walk(session, start, number == 0 ? nullptr : &rng)) break;
    if (options.progress) options.progress(session.counters(), session.best_us());
  }
  return session.finish();
}

}  // namespace rlgo::search

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/search/context.h"
#include "core/search/walk.h"

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

class Walks {
 public:
  explicit Walks(Context& context)
      : context_(context),
        walk_(*context.start(), context.thread_cost(0), context.problem().cost, context.options().max_locations,
              [this] { return may_try(); }),
        start_(walk_.mark()) {}

  void run() {
    for (int number = 0; number < context_.options().walks && !start_.places.empty(); ++number) {
      ++context_.counters().walks;
      Rng rng({context_.options().seed, static_cast<uint64_t>(number)});
      walk_.restore(start_);
      if (ended_ || !walk(number == 0 ? nullptr : &rng)) return;
      if (context_.options().progress) context_.options().progress(context_.counters(), context_.best_us());
    }
  }

 private:
  bool may_try() {
    ended_ = ended_ || !context_.may_continue();
    if (!ended_) ++context_.counters().candidates;
    return !ended_;
  }

  // One walk from the original graph, greedy where rng is null; false where the search must end.
  bool walk(Rng* rng) {
    for (int k = 0; k < context_.options().walk_length && !walk_.places().empty(); ++k) {
      if (ended_ || !context_.may_continue()) return false;
      const auto chosen = choose(context_.options().prior->rank(walk_, context_.position(walk_)), rng);
      if (!chosen) return true;
      if (!walk_.take(*chosen)) {
        ++context_.counters().refused;
        return true;
      }
      context_.counters().steps = walk_.moves();
      if (context_.improves(walk_.cost_us())) context_.offer(walk_.mark());
    }
    return true;
  }

  Context& context_;
  bool ended_ = false;
  Walk walk_;
  const Walk::Mark start_;
};

}  // namespace

Result policy(const Problem& problem, const Options& options) {
  Context context(problem, options);
  Walks(context).run();
  return context.finish();
}

}  // namespace rlgo::search

// The queue holds children, not graphs: a graph is built when it is taken from the queue, from the parent that all its
// brothers share. So an entry is small, and most graphs that are priced are never built.
#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "core/search/context.h"

namespace rlgo::search {
namespace {

struct Entry {
  double cost_us = 0;
  int64_t number = 0;  // of equal costs the earlier one is taken first
  StatePtr from;       // null: the unmodified graph
  Step step;
  StatePtr built;  // where it had to be built already: it was the best so far
};
bool later(const Entry& a, const Entry& b) {
  return a.cost_us != b.cost_us ? a.cost_us > b.cost_us : a.number > b.number;
}

// Which rewrites of a state are tried: all of them, or the prior's likeliest.
class Chooser {
 public:
  Chooser(const Context& context, PolicyPrior* prior) : context_(context), prior_(prior) {}
  std::vector<Step> operator()(const State& state) const {
    const Options& options = context_.options();
    std::vector<Step> steps = state.steps(options.max_locations);
    if (prior_ == nullptr || steps.empty()) return steps;
    const auto scores = prior_->rank(state.graph, state.index, options.max_locations, context_.position(state));
    std::vector<size_t> order(steps.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t k) { return scores.moves.at(k); });
    std::vector<Step> chosen;
    for (const size_t k : order) {
      if (chosen.size() == static_cast<size_t>(options.children) || std::isinf(scores.moves[k])) break;
      chosen.push_back(steps[k]);
    }
    return chosen;
  }

 private:
  const Context& context_;
  PolicyPrior* prior_;
};

class Backtracking {
 public:
  Backtracking(Context& context, PolicyPrior* prior) : context_(context), choose_(context, prior) {}

  void run() {
    start_ = context_.start();
    visited_.insert(start_->hash.value());
    push({start_->cost_us, number_++, nullptr, {}, start_});
    while (!queue_.empty() && context_.may_continue()) {
      const std::vector<StatePtr> states = take();
      if (states.empty()) continue;
      std::vector<std::vector<Step>> tried;
      for (const StatePtr& state : states) tried.push_back(choose_(*state));
      const auto children = context_.evaluate(states, tried);
      // As in TASO's code the bound is that of the best before these: with alpha 1 what improves on it is gone on with.
      const double bound_us = context_.options().alpha * context_.best_us();
      for (size_t k = 0; k < states.size(); ++k) {
        held_bytes_ += states[k]->bytes();
        for (const Child& child : children[k]) consider(states[k], child, bound_us);
      }
      respect_memory();
      if (context_.options().expansions > 0 && taken_ >= context_.options().expansions) {
        context_.end(StopReason::budget);
        return;
      }
    }
  }

 private:
  void push(Entry entry) {
    queue_.push_back(std::move(entry));
    std::ranges::push_heap(queue_, later);
  }

  // The cheapest graphs of the queue, one for each thread, built.
  std::vector<StatePtr> take() {
    std::vector<StatePtr> states;
    while (!queue_.empty() && states.size() < static_cast<size_t>(context_.options().threads)) {
      std::ranges::pop_heap(queue_, later);
      const Entry entry = std::move(queue_.back());
      queue_.pop_back();
      StatePtr state = entry.built ? entry.built : context_.build(*entry.from, entry.step);
      if (!state) continue;
      ++taken_;
      if (entry.from) ++context_.counters().steps;
      states.push_back(std::move(state));
    }
    return states;
  }

  void consider(const StatePtr& from, const Child& child, double bound_us) {
    if (!visited_.insert(child.hash).second) {
      ++context_.counters().duplicates;
      return;
    }
    StatePtr built;
    if (context_.improves(child.cost_us)) {
      built = context_.build(*from, child.step);
      if (!built) return;
      context_.offer(*built);
    }
    if (child.cost_us < bound_us) push({child.cost_us, number_++, from, child.step, std::move(built)});
  }

  // Where the queue and the graphs it keeps alive are too large, the worse half of the entries is dropped.
  void respect_memory() {
    const int64_t bound = context_.options().memory_bytes;
    if (bound == 0 || used_bytes() <= bound || queue_.size() < 2) return;
    const auto middle = queue_.begin() + static_cast<ptrdiff_t>(queue_.size() / 2);
    std::ranges::nth_element(queue_, middle, [](const Entry& a, const Entry& b) { return later(b, a); });
    context_.counters().dropped += queue_.end() - middle;
    queue_.erase(middle, queue_.end());
    std::ranges::make_heap(queue_, later);
    std::unordered_set<const State*> alive;
    held_bytes_ = 0;
    for (const Entry& entry : queue_) {
      if (entry.from && alive.insert(entry.from.get()).second) held_bytes_ += entry.from->bytes();
    }
  }
  int64_t used_bytes() const {
    return held_bytes_ + static_cast<int64_t>(queue_.size() * sizeof(Entry) + visited_.size() * 32);
  }

  Context& context_;
  Chooser choose_;
  StatePtr start_;
  std::vector<Entry> queue_;  // a heap
  std::unordered_set<uint64_t> visited_;
  int64_t number_ = 0, taken_ = 0, held_bytes_ = 0;
};

}  // namespace

Result taso(const Problem& problem, const Options& options) {
  Context context(problem, options);
  Backtracking(context, nullptr).run();
  return context.finish();
}

Result policy_taso(const Problem& problem, const Options& options) {
  Context context(problem, options);
  Backtracking(context, options.prior).run();
  return context.finish();
}

}  // namespace rlgo::search

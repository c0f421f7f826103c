// TASO's backtracking, of each graph only the rewrites that an agent thinks likeliest. Graphs are kept as marks of a
// walk, so that of a graph only what its last rewrite changed is priced: the agent sees all prices at little cost.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/search/context.h"
#include "core/search/walk.h"

namespace rlgo::search {
namespace {

class Guided {
 public:
  explicit Guided(Context& context)
      : context_(context),
        walk_(*context.start(), context.thread_cost(0), context.problem().cost, context.options().max_locations,
              [this] { return may_try(); }) {
    visited_.insert(walk_.hash());
  }

  void run() {
    expand();
    const int64_t most = context_.options().expansions;
    while (!queue_.empty() && !ended_) {
      if (most > 0 && taken_ >= most) {
        context_.end(StopReason::budget);
        return;
      }
      if (!context_.may_continue()) return;
      std::ranges::pop_heap(queue_, later);
      const Entry entry = std::move(queue_.back());
      queue_.pop_back();
      walk_.restore(*entry.from);
      if (!walk_.take(entry.place)) {
        ++context_.counters().refused;
        continue;
      }
      context_.counters().steps = walk_.moves();
      expand();
      if (context_.options().progress) context_.options().progress(context_.counters(), context_.best_us());
    }
  }

 private:
  struct Entry {
    double cost_us = 0;
    int64_t number = 0;  // of equal costs the earlier one is taken first
    std::shared_ptr<const Walk::Mark> from;
    size_t place = 0;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.cost_us != b.cost_us ? a.cost_us > b.cost_us : a.number > b.number;
  }

  bool may_try() {
    ended_ = ended_ || !context_.may_continue();
    if (!ended_) ++context_.counters().candidates;
    return !ended_;
  }

  // Puts the likeliest rewrites of the walk's graph into the queue.
  void expand() {
    ++taken_;
    if (context_.improves(walk_.cost_us())) context_.offer(walk_.mark());
    if (walk_.places().empty()) return;
    const auto& options = context_.options();
    const auto& scores = options.prior->rank(walk_, context_.position(walk_)).moves;
    std::vector<size_t> order(scores.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t k) { return scores[k]; });
    order.resize(std::min(order.size(), static_cast<size_t>(options.children)));
    std::erase_if(order, [&](size_t k) { return std::isinf(scores[k]); });
    const auto here = std::make_shared<const Walk::Mark>(walk_.mark());
    held_bytes_ += here->bytes();
    // As in TASO the bound is that of the best before these.
    const double bound_us = options.alpha * context_.best_us();
    for (const size_t k : order) consider(here, k, bound_us);
    respect_memory();
  }

  void consider(const std::shared_ptr<const Walk::Mark>& from, size_t place, double bound_us) {
    const auto& move = from->places[place].move;
    if (!move || !std::isfinite(move->delta_us)) return;
    if (!visited_.insert(from->hash.value() + move->delta_hash).second) {
      ++context_.counters().duplicates;
      return;
    }
    const double cost_us = from->cost_us + move->delta_us;
    if (cost_us >= bound_us && !context_.improves(cost_us)) return;
    queue_.push_back({cost_us, number_++, from, place});
    std::ranges::push_heap(queue_, later);
  }

  // Where the queue and the graphs it keeps alive are too large, the worse half of the entries is dropped.
  void respect_memory() {
    const auto bound = static_cast<int64_t>(context_.options().memory_mib * (1 << 20));
    const auto used = held_bytes_ + static_cast<int64_t>(queue_.size() * sizeof(Entry) + visited_.size() * 32);
    if (bound == 0 || used <= bound || queue_.size() < 2) return;
    const auto middle = queue_.begin() + static_cast<ptrdiff_t>(queue_.size() / 2);
    std::ranges::nth_element(queue_, middle, [](const Entry& a, const Entry& b) { return later(b, a); });
    context_.counters().dropped += queue_.end() - middle;
    queue_.erase(middle, queue_.end());
    std::ranges::make_heap(queue_, later);
    std::unordered_set<const Walk::Mark*> alive;
    held_bytes_ = 0;
    for (const Entry& entry : queue_) {
      if (alive.insert(entry.from.get()).second) held_bytes_ += entry.from->bytes();
    }
  }

  Context& context_;
  bool ended_ = false;
  Walk walk_;
  std::vector<Entry> queue_;  // a heap
  std::unordered_set<uint64_t> visited_;
  int64_t number_ = 0, taken_ = 0, held_bytes_ = 0;
};

}  // namespace

Result policy_taso(const Problem& problem, const Options& options) {
  Context context(problem, options);
  Guided(context).run();
  return context.finish();
}

}  // namespace rlgo::search

#include "core/search/backtracking.h"

#include <algorithm>

namespace rlgo::search {

Backtracking::Backtracking(Context& context, Filter inside) : context_(context), inside_(std::move(inside)) {}

bool Backtracking::later(const Entry& a, const Entry& b) {
  return a.cost_us != b.cost_us ? a.cost_us > b.cost_us : a.number > b.number;
}

// Which rewrites of a state are tried.
std::vector<rules::Rewrite> Backtracking::choose(const State& state) const {
  std::vector<rules::Rewrite> steps = state.steps(context_.options().max_locations);
  if (inside_) {
    std::erase_if(steps, [&](const rules::Rewrite& step) {
      return !inside_(state.index.matches(step.rule)[static_cast<size_t>(step.location)]);
    });
  }
  return steps;
}

bool Backtracking::run(const StatePtr& start, int64_t expansions) {
  best_ = start;
  visited_.insert(start->hash.value());
  push({start->cost_us, number_++, nullptr, {}, start});
  while (!queue_.empty()) {
    if (!context_.may_continue()) return false;
    const std::vector<StatePtr> states = take();
    if (states.empty()) continue;
    std::vector<std::vector<rules::Rewrite>> tried;
    for (const StatePtr& state : states) tried.push_back(choose(*state));
    const auto children = context_.evaluate(states, tried);
    // As in TASO's code the bound is that of the best before these: with alpha 1 what improves on it is gone on with.
    const double bound_us = context_.options().alpha * context_.best_us();
    for (size_t k = 0; k < states.size(); ++k) {
      held_bytes_ += states[k]->bytes();
      for (const Child& child : children[k]) consider(states[k], child, bound_us);
    }
    respect_memory();
    if (expansions > 0 && taken_ >= expansions) return false;
  }
  return true;
}

void Backtracking::push(Entry entry) {
  queue_.push_back(std::move(entry));
  std::ranges::push_heap(queue_, later);
}

// The cheapest graphs of the queue, one for each thread, built.
std::vector<StatePtr> Backtracking::take() {
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

void Backtracking::consider(const StatePtr& from, const Child& child, double bound_us) {
  if (!visited_.insert(child.hash).second) {
    ++context_.counters().duplicates;
    return;
  }
  StatePtr built;
  if (context_.improves(child.cost_us)) {
    built = context_.build(*from, child.step);
    if (!built) return;
    context_.offer(*built);
    best_ = built;
  }
  if (child.cost_us < bound_us) push({child.cost_us, number_++, from, child.step, std::move(built)});
}

// Where the queue and the graphs it keeps alive are too large, the worse half of the entries is dropped.
void Backtracking::respect_memory() {
  const auto bound = static_cast<int64_t>(context_.options().memory_mib * (1 << 20));
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
int64_t Backtracking::used_bytes() const {
  return held_bytes_ + static_cast<int64_t>(queue_.size() * sizeof(Entry) + visited_.size() * 32);
}

}  // namespace rlgo::search

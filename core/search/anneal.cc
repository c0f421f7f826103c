// Simulated annealing in windows, by chains that run side by side: see chain.h.
#include <algorithm>
#include <thread>
#include <utility>

#include "core/search/annealing.h"

namespace rlgo::search {
namespace {

constexpr int kRoundsTogether = 64, kRoundsAlone = 8;  // of a chain, before it hears of the others

}  // namespace

Annealing::Annealing(Context& context) : context_(context) {
  // Prices that depend on their surroundings are asked for one graph at a time.
  const int threads = context.problem().cost.is_local() ? context.options().threads : 1;
  allowed_.assign(static_cast<size_t>(threads), 0);
  tried_.assign(static_cast<size_t>(threads), 0);
  share_budget();
  const StatePtr start = context.start();
  for (size_t t = 0; t < allowed_.size(); ++t) {
    chains_.push_back(std::make_unique<Chain>(
        *start, context.thread_cost(t), context.problem().cost, context.options().max_locations, context.unit_us(),
        context.tolerance_us(), Rng({context.options().seed, t}), [this, t] { return may_try(t); }));
  }
}

void Annealing::run(int64_t tries) {
  int64_t used = 0;
  while (!stopped_ && can_move() && used < tries) {
    const int64_t before = context_.budget_left();
    share_budget();
    run_chains();
    exchange();
    share_budget();
    count_moves();
    if (context_.options().progress) context_.options().progress(context_.counters(), context_.best_us());
    stopped_ = stopped_ || !context_.may_continue();
    used += before - context_.budget_left();
  }
}

void Annealing::count_moves() {
  int64_t moves = 0;
  for (const auto& chain : chains_) moves += chain->moves();
  context_.counters().steps += moves - std::exchange(moves_, moves);
}

void Annealing::adopt(const Walk::Mark& best) {
  for (const auto& chain : chains_) chain->adopt(best);
}

// What is left of the budget, in equal shares; what the threads used is counted.
void Annealing::share_budget() {
  for (size_t t = 1; t < tried_.size(); ++t) context_.counters().candidates += std::exchange(tried_[t], 0);
  const int64_t left = context_.budget_left(), threads = static_cast<int64_t>(allowed_.size());
  for (int64_t t = 0; t < threads; ++t) allowed_[static_cast<size_t>(t)] = left / threads + (t < left % threads);
}

bool Annealing::may_try(size_t t) {
  if (t == 0) {
    if (!context_.may_continue()) stopped_ = true;
    if (!stopped_ && allowed_[0] > 0) ++context_.counters().candidates;
  }
  if (stopped_ || allowed_[t] == 0) return false;
  --allowed_[t];
  tried_[t] += t > 0 ? 1 : 0;
  return true;
}

void Annealing::run_chain(size_t t) {
  try {
    chains_[t]->run(chains_.size() > 1 ? kRoundsTogether : kRoundsAlone, [&](const Walk::Mark& best) {
      if (t == 0) offer(best);
    });
  } catch (...) {
    stopped_ = true;
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void Annealing::run_chains() {
  {
    std::vector<std::jthread> others;
    for (size_t t = 1; t < chains_.size(); ++t) others.emplace_back([this, t] { run_chain(t); });
    run_chain(0);
  }
  if (error_) std::rethrow_exception(error_);
}

void Annealing::offer(const Walk::Mark& best) {
  context_.offer({best.graph, best.index, best.hash, best.cost_us, best.depth, best.trail});
}

// The best graph, with what the other chains learned on theirs.
void Annealing::exchange() {
  size_t best = 0;
  for (size_t t = 1; t < chains_.size(); ++t) {
    if (chains_[t]->best().cost_us < chains_[best]->best().cost_us - context_.tolerance_us()) best = t;
  }
  std::vector<Macro> learned;
  for (size_t t = 0; t < chains_.size(); ++t) {
    auto macros = chains_[t]->take_learned();
    if (t != best) std::ranges::move(macros, std::back_inserter(learned));
  }
  if (chains_.size() == 1) return;
  chains_[best]->make(learned);
  const Walk::Mark found = chains_[best]->best();
  offer(found);
  for (const auto& chain : chains_) chain->adopt(found);
}

Result anneal(const Problem& problem, const Options& options) {
  Context context(problem, options);
  Annealing(context).run();
  return context.finish();
}

}  // namespace rlgo::search

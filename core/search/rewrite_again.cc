#include "core/search/rewrite_again.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rlgo::search {
namespace {

// Ranges that a window and its baths draw from, logarithmically.
constexpr double kSmallestWindow = 6, kLargestWindow = 60;  // nodes
constexpr double kShortest = 5, kLongest = 40;              // moves
// Mean costs of an operator: at most what keeps out rewrites that cost more than what is to be gained.
constexpr double kColdest = 0.01, kHottest = 0.4;
// What pays is not preferred to what changes nothing: else it would be made first here too.
constexpr double kMostWeight = 1;
constexpr int kBaths = 4;              // of a window
constexpr uint64_t kStream = 1 << 20;  // of random numbers: no chain's
constexpr size_t kMostCompared = 100'000;

}  // namespace

RewriteAgain::RewriteAgain(Context& context)
    : context_(context),
      rng_({context.options().seed, kStream}),
      tolerance_us_(context.tolerance_us()),
      walk_(*context.start(), context.thread_cost(0), context.problem().cost, context.options().max_locations,
            [this] { return may_try(); }),
      start_(walk_.mark()),
      best_(start_) {
  unit_us_ = context.unit_us();
}

void RewriteAgain::run(int64_t tries) {
  const int64_t from = context_.counters().candidates;
  while (!ended_ && can_move() && context_.counters().candidates - from < tries) {
    search_window();
    context_.counters().steps += walk_.moves() - std::exchange(moves_, walk_.moves());
    if (context_.options().progress) context_.options().progress(context_.counters(), context_.best_us());
  }
}

void RewriteAgain::adopt(const Walk::Mark& best) {
  if (best.cost_us < best_.cost_us - tolerance_us_) best_ = best;
}

bool RewriteAgain::may_try() {
  ended_ = ended_ || !context_.may_continue();
  if (!ended_) ++context_.counters().candidates;
  return !ended_;
}

bool RewriteAgain::take(size_t place) {
  if (!may_try()) return false;
  auto taken = search::take(walk_, place);
  if (!taken) return false;
  taken_.push_back(std::move(*taken));
  return true;
}

bool RewriteAgain::take_inside(size_t place) {
  if (!take(place)) return false;
  window_.moved(walk_);
  return true;
}

void RewriteAgain::descend() {
  while (!ended_) {
    const auto best = steepest(walk_.places(), tolerance_us_);
    if (!best || !take(*best)) return;
  }
}

void RewriteAgain::descend_inside() {
  while (!ended_) {
    const auto best = window_.steepest(walk_, tolerance_us_);
    if (!best || !take_inside(*best)) return;
  }
}

// The best graph's rewrites, by what they concern.
void RewriteAgain::record_best() {
  if (recorded_ == best_.stamp) return;
  Walk walk(start_, context_.thread_cost(0), context_.problem().cost, context_.options().max_locations, nullptr);
  of_best_ = to_macro(play_trace(walk, to_trace(best_.trail.get())));
  recorded_ = best_.stamp;
}

// Those of them that still apply.
void RewriteAgain::replay_best() {
  MacroPlayer player(walk_, of_best_);
  player.play_in_place();
  for (size_t s = 0; s < of_best_.size() && !ended_; ++s) player.take(s);
}

void RewriteAgain::replay_best_inside() {
  MacroPlayer player(walk_, of_best_);
  player.play_in_place();
  for (size_t s = 0; s < of_best_.size() && !ended_; ++s) {
    const auto place = player.find(s);
    if (place && window_.contains(walk_, *place) && player.take_at(s, *place)) window_.moved(walk_);
  }
}

// What the unmodified graph costs once the window is rewritten by what is known: greedily, or as in the best graph.
double RewriteAgain::known_us(const HeatBath& window) {
  descend_inside();
  const double greedy_us = walk_.cost_us();
  walk_.restore(start_);
  window_ = window;
  replay_best_inside();
  descend_inside();
  return std::min(greedy_us, walk_.cost_us());
}

void RewriteAgain::search_window() {
  if (!may_try()) return;  // so that what leads nowhere ends with the budget
  record_best();
  walk_.restore(start_);
  const auto size = static_cast<size_t>(log_uniform(rng_, kSmallestWindow, kLargestWindow));
  const size_t centre = draw_kind(walk_.places(), tolerance_us_, rng_);
  if (!walk_.places()[centre].move) return;
  window_.open(walk_, *walk_.places()[centre].move->match, size);
  const HeatBath window = window_;
  double least_us = known_us(window);
  for (int k = 0; k < kBaths && !ended_; ++k) {
    walk_.restore(start_);
    window_ = window;
    bathe();
    if (ended_ || walk_.cost_us() >= least_us - tolerance_us_) continue;
    least_us = walk_.cost_us();
    // Alike windows save alike: where one did not pay, none of them will.
    if (compared_.size() >= kMostCompared) compared_.clear();
    const int64_t key = saved();
    if (!compared_.contains(key) && !put_first(taken_)) compared_.insert(key);
  }
}

void RewriteAgain::bathe() {
  const double temperature_us = log_uniform(rng_, kColdest, kHottest) * unit_us_;
  const auto length = static_cast<int>(log_uniform(rng_, kShortest, kLongest));
  taken_.clear();
  window_.begin(walk_);
  for (int k = 0; k < length && !ended_; ++k) {
    const auto drawn = window_.draw(walk_, temperature_us, kMostWeight, rng_);
    if (!drawn || !take_inside(*drawn)) break;
  }
  descend_inside();
}

// In units of what is surely no rounding.
int64_t RewriteAgain::saved() const { return std::llround((start_.cost_us - walk_.cost_us()) / (100 * tolerance_us_)); }

// The window alone is made first to see whether that pays, then all that are alike. False where it does not.
bool RewriteAgain::put_first(std::vector<Taken> taken) {
  replay_best();
  descend();
  if (ended_ || walk_.cost_us() >= best_.cost_us - tolerance_us_) return false;
  Walk::Mark alone = walk_.mark();
  const auto goes_on = [this] { return !ended_; };
  walk_.restore(start_);
  taken = minimise(walk_, start_, taken, tolerance_us_, goes_on);
  spread(walk_, connected(walk_, start_, taken, tolerance_us_), tolerance_us_, goes_on);
  replay_best();
  descend();
  best_ = walk_.cost_us() < alone.cost_us ? walk_.mark() : std::move(alone);
  context_.offer(best_);
  record_best();
  return true;
}

}  // namespace rlgo::search

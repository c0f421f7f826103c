#include "core/search/chain.h"

#include <algorithm>
#include <cmath>

namespace rlgo::search {
namespace {

// Ranges that a round draws from, logarithmically. Temperatures in units of the mean cost of an operator.
constexpr double kColdest = 0.01, kHottest = 2.0;
constexpr double kSmallestWindow = 3, kLargestWindow = 60;  // nodes
constexpr double kShortest = 2, kLongest = 60;              // moves
constexpr double kMostWeight = 1e12;                        // of a move
// A kick.
constexpr double kKickTemperature = 1.0;
constexpr size_t kKickWindow = 40;
constexpr int kKickMoves = 30;
// Episodes.
constexpr int kFirstPatience = 1500, kPatience = 600;  // rounds without gain
constexpr double kFreshFraction = 0.3;                 // that start at the unmodified graph

}  // namespace

Chain::Chain(const State& start, cost::CostModel& cost, cost::CostModel& measured, int max_locations, double unit_us,
             double tolerance_us, Rng rng, Allowance may_try)
    : may_try_(std::move(may_try)),
      walk_(start, cost, measured, max_locations, [this] { return this->may_try(); }),
      unit_us_(unit_us),
      tolerance_us_(tolerance_us),
      rng_(rng),
      start_(walk_.mark()),
      current_(start_),
      best_(start_),
      patience_(kFirstPatience) {}

bool Chain::may_try() {
  ended_ = ended_ || !may_try_();
  return !ended_;
}

void Chain::run(int rounds, const std::function<void(const Walk::Mark&)>& improved) {
  improved_ = &improved;
  if (!begun_) {
    begun_ = true;
    descend();
    current_ = walk_.mark();
    keep_best();
  }
  for (int k = 0; k < rounds && may_continue() && can_move(); ++k) {
    round();
    if (walk_.cost_us() < current_.cost_us - tolerance_us_) {
      learn();
      rounds_without_gain_ = 0;
    } else {
      walk_.restore(current_);
      ++rounds_without_gain_;
    }
    if (rounds_without_gain_ > patience_ || walk_.places().empty()) next_episode();
  }
}

void Chain::keep_best() {
  if (current_.cost_us >= best_.cost_us - tolerance_us_) return;
  best_ = current_;
  (*improved_)(best_);
}

void Chain::adopt(const Walk::Mark& best) {
  if (best.cost_us >= best_.cost_us - tolerance_us_) return;
  best_ = best;
  if (!from_best_) return;
  current_ = best;
  walk_.restore(current_);
  rounds_without_gain_ = 0;
}

void Chain::make(std::span<const Macro> macros) {
  if (macros.empty()) return;
  walk_.restore(best_);
  for (const Macro& macro : macros) spread(walk_, macro, tolerance_us_, [this] { return may_continue(); });
  descend();
  const Walk::Mark made = walk_.mark();
  walk_.restore(current_);
  adopt(made);
}

void Chain::next_episode() {
  rounds_without_gain_ = 0;
  patience_ = kPatience;
  from_best_ = false;
  const bool fresh = best_.places.empty() || (rng_.uniform() < kFreshFraction && !start_.places.empty());
  walk_.restore(fresh ? start_ : best_);
  if (!fresh) bathe(kKickWindow, kKickMoves, kKickTemperature * unit_us_, -std::numeric_limits<double>::infinity());
  // At least one graph, so that what has nowhere to go ends with the budget.
  if (walk_.places().empty()) may_try();
  current_ = walk_.mark();
  keep_best();
}

void Chain::round() {
  const double temperature_us = log_uniform(rng_, kColdest, kHottest) * unit_us_;
  const auto window = static_cast<size_t>(log_uniform(rng_, kSmallestWindow, kLargestWindow));
  const auto length = static_cast<int>(log_uniform(rng_, kShortest, kLongest));
  bathe(window, length, temperature_us, current_.cost_us - tolerance_us_);
  descend();
}

// A walk in a window until the cost is below the goal.
void Chain::bathe(size_t window, int length, double temperature_us, double goal_us) {
  taken_.clear();
  if (walk_.places().empty()) return;
  const size_t centre = draw_kind(walk_.places(), tolerance_us_, rng_);
  bath_.open(walk_, *walk_.places()[centre].move->match, window);
  bath_.begin(walk_);
  for (int k = 0; k < length && walk_.cost_us() >= goal_us; ++k) {
    if (!step(temperature_us)) return;
  }
}

// What paid is made wherever it pays.
void Chain::learn() {
  const auto goes_on = [this] { return may_continue(); };
  const Walk::Mark found = walk_.mark();
  taken_ = minimise(walk_, current_, taken_, tolerance_us_, goes_on);
  if (walk_.cost_us() > found.cost_us + tolerance_us_) {  // the search ended meanwhile
    current_ = found;
    return keep_best();
  }
  learned_.push_back(connected(walk_, current_, taken_, tolerance_us_));
  current_ = walk_.mark();
  keep_best();
  spread(walk_, learned_.back(), tolerance_us_, goes_on);
  descend();
  current_ = walk_.mark();
  keep_best();
}

bool Chain::take(size_t k) {
  if (!may_try()) return false;
  auto taken = search::take(walk_, k);
  if (!taken) return false;
  taken_.push_back(std::move(*taken));
  return true;
}

void Chain::descend() {
  while (may_continue()) {
    const auto best = steepest(walk_.places(), tolerance_us_);
    if (!best || !take(*best)) return;
  }
}

// One move of the heat bath. False where none is left.
bool Chain::step(double temperature_us) {
  const auto drawn = bath_.draw(walk_, temperature_us, kMostWeight, rng_);
  if (!drawn || !take(*drawn)) return false;
  bath_.moved(walk_);
  return true;
}

}  // namespace rlgo::search

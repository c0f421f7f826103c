#include "core/optimise/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/quantile.h"

namespace rlgo::optimise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Log of the capital after so many wins and losses, stakes mixed evenly: the integral of (1 + s)^wins (1 - s)^losses
// over s from 0 to 1, by the midpoint rule.
double log_capital(int wins, int losses) {
  constexpr int kPoints = 512;
  double largest = -kInfinity;
  double logs[kPoints];
  for (int k = 0; k < kPoints; ++k) {
    const double stake = (k + 0.5) / kPoints;
    logs[k] = wins * std::log1p(stake) + losses * std::log1p(-stake);
    largest = std::max(largest, logs[k]);
  }
  double sum = 0;
  for (const double value : logs) sum += std::exp(value - largest);
  return largest + std::log(sum / kPoints);
}

int find_least_wins(int trials, double error) {
  int low = 0, high = trials + 1;  // the capital grows with each win
  while (low < high) {
    const int middle = (low + high) / 2;
    const bool enough = middle <= trials && log_capital(middle, trials - middle) >= -std::log(error);
    if (middle > trials || enough)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// The smallest logarithm that is above the true one, by a sorted sample; infinity where none is.
double upper_log(const std::vector<double>& sorted) {
  const int trials = static_cast<int>(sorted.size());
  const int wins = least_wins(trials, SequentialRatio::kError / 2);
  return wins > trials || wins == 0 ? kInfinity : sorted[static_cast<size_t>(wins) - 1];
}

double lower_log(const std::vector<double>& sorted) {
  const int trials = static_cast<int>(sorted.size());
  const int wins = least_wins(trials, SequentialRatio::kError / 2);
  return wins > trials || wins == 0 ? -kInfinity : sorted[static_cast<size_t>(trials - wins)];
}

void insert_sorted(std::vector<double>& values, double value) {
  values.insert(std::ranges::upper_bound(values, value), value);
}

}  // namespace

int least_wins(int trials, double error) {
  RLGO_CHECK(trials >= 0 && error > 0 && error < 1);
  constexpr int kKnown = 256;
  static const std::vector<int> known = [] {  // for the error that SequentialRatio uses
    std::vector<int> table;
    for (int n = 0; n <= kKnown; ++n) table.push_back(find_least_wins(n, SequentialRatio::kError / 2));
    return table;
  }();
  if (trials <= kKnown && error == SequentialRatio::kError / 2) return known[static_cast<size_t>(trials)];
  return find_least_wins(trials, error);
}

void SequentialRatio::add_load(std::span<const double> quotients) {
  RLGO_CHECK(!quotients.empty());
  std::vector<double> logs;
  for (const double quotient : quotients) logs.push_back(std::log(std::max(quotient, 1e-9)));
  for (const double value : logs) insert_sorted(round_logs_, value);
  insert_sorted(load_logs_, median(logs));
}

double SequentialRatio::ratio() const { return load_logs_.empty() ? 1 : std::exp(median(load_logs_)); }

double SequentialRatio::upper() const {
  double log = upper_log(load_logs_) - std::log1p(-kLoadAllowance);
  if (loads() >= kLeastLoads) log = std::min(log, upper_log(round_logs_) - std::log1p(-kRoundAllowance));
  return std::exp(log);
}

bool SequentialRatio::may_be_shown(int rounds) const {
  std::vector<double> below = round_logs_, above = round_logs_;
  if (const int more = rounds - this->rounds(); more > 0) {
    below.insert(below.begin(), static_cast<size_t>(more), -kInfinity);
    above.insert(above.end(), static_cast<size_t>(more), kInfinity);
  }
  return upper_log(below) < std::log1p(-kRoundAllowance) || lower_log(above) > -std::log1p(-kRoundAllowance);
}

double SequentialRatio::lower() const {
  double log = lower_log(load_logs_) + std::log1p(-kLoadAllowance);
  if (loads() >= kLeastLoads) log = std::max(log, lower_log(round_logs_) + std::log1p(-kRoundAllowance));
  return std::exp(log);
}

}  // namespace rlgo::optimise

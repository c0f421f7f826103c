#include "core/optimise/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/quantile.h"

namespace rlgo::optimise {
namespace {

// Error of the mean alone at each look: all looks together make up for it.
constexpr double kMeanError = 0.005;

// The upper quantile of the normal distribution.
double normal_quantile(double error) {
  RLGO_CHECK(error == SequentialRatio::kError || error == kMeanError);
  return error == kMeanError ? 2.5758293035489004 : 2.3263478740408408;
}

// The quantile 1 - `error` of Student's t with so many (>= 3) degrees of freedom, by its expansion around the normal
// one (Abramowitz and Stegun 26.7.5); within 0.5 %.
double student(double error, double freedom) {
  const double z = normal_quantile(error), z2 = z * z;
  const double terms[] = {z * (z2 + 1) / 4, z * ((5 * z2 + 16) * z2 + 3) / 96,
                          z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
                          z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160};
  double sum = z, power = 1;
  for (const double term : terms) sum += term / (power *= freedom);
  return sum;
}

double average(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the noise of rounds in the median process: surely no more than there is, whatever the tails.
constexpr double kSurePart = 0.7;

}  // namespace

void SequentialRatio::add(std::span<const double> quotients) {
  RLGO_CHECK(!quotients.empty());
  std::vector<double> logs;
  for (const double quotient : quotients) logs.push_back(std::log(std::max(quotient, 1e-9)));
  const double count = static_cast<double>(logs.size()), mean = average(logs);
  double squares = 0;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  noises_.push_back(squares / std::max(1.0, count - 1) / count);
  logs_.push_back(median(logs));
}

double SequentialRatio::mean() const { return logs_.empty() ? 0 : average(logs_); }

double SequentialRatio::reach(int count, double scale) const {
  double squares = 0;
  for (const double log : logs_) squares += (log - mean()) * (log - mean());
  const double each = scale * scale * squares / (this->count() - 1);
  const double known = kUsualSpread * kUsualSpread + scale * scale * average(noises_);
  const double variance = (known + (count - 1) * each) / count;
  // Of the draws of processes alone.
  const double drawn =
      std::max(kUsualSpread * kUsualSpread / count, variance - kSurePart * scale * scale * median(noises_));
  return std::hypot(student(kMeanError, count) * std::sqrt(variance / count),
                    student(kError, count) * std::sqrt(drawn));
}

double SequentialRatio::ratio() const { return std::exp(mean()); }

double SequentialRatio::upper() const {
  return count() < kLeast ? std::numeric_limits<double>::infinity() : std::exp(mean() + reach(count(), 1));
}

double SequentialRatio::lower() const { return count() < kLeast ? 0 : std::exp(mean() - reach(count(), 1)); }

bool SequentialRatio::may_be_shown(int most) const {
  return count() < kLeast || std::abs(mean()) > reach(std::max(most, count()), 0.5);
}

}  // namespace rlgo::optimise

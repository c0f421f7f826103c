#include "core/optimise/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/quantile.h"

namespace rlgo::optimise {
namespace {

// The quantile 1 - SequentialRatio::kError of Student's t with so many (>= 3) degrees of freedom, by its expansion
// around the normal one (Abramowitz and Stegun 26.7.5); within 0.5 %.
double student(double freedom) {
  const double z = 2.3263478740408408, z2 = z * z;
  const double terms[] = {z * (z2 + 1) / 4, z * ((5 * z2 + 16) * z2 + 3) / 96,
                          z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
                          z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160};
  double sum = z, power = 1;
  for (const double term : terms) sum += term / (power *= freedom);
  return sum;
}

}  // namespace

void SequentialRatio::add(std::span<const double> quotients) {
  RLGO_CHECK(!quotients.empty());
  std::vector<double> logs;
  for (const double quotient : quotients) logs.push_back(std::log(std::max(quotient, 1e-9)));
  logs_.push_back(median(logs));
}

double SequentialRatio::mean() const {
  return logs_.empty() ? 0 : std::accumulate(logs_.begin(), logs_.end(), 0.0) / count();
}

double SequentialRatio::reach(int count, double scale) const {
  double squares = 0;
  for (const double log : logs_) squares += (log - mean()) * (log - mean());
  const double each = scale * scale * squares / (this->count() - 1);
  const double variance = (kUsualSpread * kUsualSpread + (count - 1) * each) / count;
  return student(count) * std::sqrt(variance * (1 + 1.0 / count));
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

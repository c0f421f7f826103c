#include "core/cost/runtime.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/quantile.h"

namespace rlgo::cost {
namespace {

constexpr double kLeastUs = 0.01;  // a time below the clock's resolution

std::vector<double> divided(std::span<const double> us, std::span<const double> first_us) {
  RLGO_CHECK_EQ(us.size(), first_us.size());
  std::vector<double> out;
  for (size_t r = 0; r < us.size(); ++r) out.push_back(us[r] / std::max(first_us[r], kLeastUs));
  return out;
}

}  // namespace

void set_quotients(Comparison& comparison, size_t k, std::span<const double> us, std::span<const double> first_us) {
  comparison.quotients[k] = divided(us, first_us);
  comparison.ratio[k] = median(comparison.quotients[k]);
  comparison.ratio_spread[k] = interquartile_range(comparison.quotients[k]);
}

double noise_of(std::span<const double> twin_us, std::span<const double> first_us) {
  const auto quotients = divided(twin_us, first_us);
  return std::max(std::abs(1 - median(quotients)),
                  1.57 * interquartile_range(quotients) / std::sqrt(static_cast<double>(quotients.size())));
}

}  // namespace rlgo::cost

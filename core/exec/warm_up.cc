#include "core/exec/warm_up.h"

#include <algorithm>
#include <cmath>

namespace rlgo::exec {

int warm_up(const std::function<double(int)>& sample_us, int warmup, double min_sample_us, int most) {
  for (int i = 0; i < warmup; ++i) {
    if (sample_us(1) > kSlowRun_us) return 1;
  }
  // The least of two: another process may have had the core.
  const double first_us = sample_us(1);
  if (first_us > kSlowRun_us) return 1;
  const double run_us = std::max(std::min(first_us, sample_us(1)), 0.01);
  return std::clamp(static_cast<int>(std::ceil(min_sample_us / run_us)), 1, most);
}

}  // namespace rlgo::exec

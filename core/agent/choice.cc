#include "core/agent/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace rlgo::agent {

int64_t sample_log(const float* log_p, int64_t count, double u) {
  double total = 0;
  for (int64_t i = 0; i < count; ++i) total += std::exp(static_cast<double>(log_p[i]));
  double left = u * total;  // total is 1 up to rounding
  int64_t last = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (log_p[i] == -std::numeric_limits<float>::infinity()) continue;
    last = i;
    left -= std::exp(static_cast<double>(log_p[i]));
    if (left < 0) break;
  }
  RLGO_CHECK_LE(0, last);
  return last;
}

int64_t most_probable(const float* log_p, int64_t count) { return std::max_element(log_p, log_p + count) - log_p; }

}  // namespace rlgo::agent

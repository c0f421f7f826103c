// Drawing from log-probabilities.
#pragma once

#include <cstdint>

namespace rlgo::agent {

// First entry at which the cumulated probability exceeds u, among log_p[0..count); entries of -inf are never chosen,
// and there is one that is not.
int64_t sample_log(const float* log_p, int64_t count, double u);
// The first of the largest.
int64_t most_probable(const float* log_p, int64_t count);

}  // namespace rlgo::agent

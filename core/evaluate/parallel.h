// Work shared by threads, with an eye on the time.
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/deadline.h"

namespace rlgo::evaluate {

// How kernels run.
struct Run {
  int threads = 1;
  Deadline deadline = {};  // asked by the calling thread alone; past it kernels end with Stopped
};

// So many elements of simple arithmetic are worth a thread.
constexpr int64_t kPiece = int64_t{1} << 15;

// body(begin, end) over [0, count) in pieces of at most `grain`, by up to run.threads threads; the pieces do not depend
// on their number. Rethrows the first error.
void parallel(const Run& run, int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

}  // namespace rlgo::evaluate

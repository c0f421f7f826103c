#include "core/evaluate/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace rlgo::evaluate {

void parallel(const Run& run, int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t step = std::max<int64_t>(grain, 1), pieces = (count + step - 1) / step;
  std::atomic<int64_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&](bool watches) {
    try {
      for (int64_t piece; (piece = next++) < pieces;) {
        if (watches) run.deadline.check();
        body(piece * step, std::min(count, (piece + 1) * step));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next = pieces;
    }
  };
  std::vector<std::jthread> helpers;
  for (int64_t t = 1; t < std::min<int64_t>(run.threads, pieces); ++t) helpers.emplace_back(work, false);
  work(true);
  helpers.clear();  // waits for them
  if (error) std::rethrow_exception(error);
}

}  // namespace rlgo::evaluate

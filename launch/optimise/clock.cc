#include "launch/optimise/clock.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::launch {
namespace {

constexpr int kBarWidth = 20;

}  // namespace

void OptimiseClock::phase(std::string name) {
  phase_ = std::move(name);
  show(true);
}

void OptimiseClock::costs(double initial_us, double best_us) {
  initial_us_ = initial_us;
  best_us_ = best_us;
}

void OptimiseClock::pricing(size_t done, size_t of) {
  timed_ = done;
  to_time_ = of;
  show(true);
}

std::string OptimiseClock::text() const {
  const double share = seconds_ > 0 ? std::clamp(passed() / seconds_, 0.0, 1.0) : 1.0;
  const int full = static_cast<int>(share * kBarWidth);
  std::string out = fmt::format("[{}{}]  {}", std::string(full, '#'), std::string(kBarWidth - full, '.'), phase_);
  if (timed_ < to_time_) out += fmt::format("  timing {} of {} groups of operators", timed_ + 1, to_time_);
  if (graphs_ > 0) out += fmt::format("  {} graphs", graphs_);
  if (initial_us_ > 0)
    out +=
        fmt::format("  cost {:.3f} ms ({:+.1f} %)", best_us_ / 1000.0, 100.0 * (best_us_ - initial_us_) / initial_us_);
  if (left() > 0) out += fmt::format("  {} left", human_seconds(std::max(1.0, left())));
  return out;
}

}  // namespace rlgo::launch

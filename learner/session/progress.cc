#include "learner/session/progress.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::learner {

std::string Progress::text() const {
  std::string out = fmt::format("{}  epoch {}/{}", phase_, epoch_, epochs_);
  const double passed = watch_.seconds();
  if (steps_ > 0 && passed > 0) out += fmt::format("  {:.0f} steps/s", static_cast<double>(steps_) / passed);
  if (initial_us_ > 0)
    out +=
        fmt::format("  best {:.3f} ms ({:+.1f} %)", best_us_ / 1000.0, 100.0 * (best_us_ - initial_us_) / initial_us_);
  double left = seconds_ > 0 ? seconds_ - passed : -1;
  if (epoch_ > first_epoch_) {
    const double by_epochs =
        passed / static_cast<double>(epoch_ - first_epoch_) * static_cast<double>(epochs_ - epoch_);
    left = left < 0 ? by_epochs : std::min(left, by_epochs);
  }
  if (left >= 0 && epoch_ < epochs_) out += fmt::format("  {} left", human_seconds(std::max(1.0, left)));
  return out;
}

}  // namespace rlgo::learner

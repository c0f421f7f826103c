#include "core/exec/device_clock.h"

#include <algorithm>

namespace rlgo::exec {
namespace {

constexpr double kMargin = 1.5;  // of what handing over is thought to take
constexpr double kLeastHold_us = 50;
constexpr double kLongestHold_us = 1e5;
constexpr int kTries = 4;

}  // namespace

int most_runs(int launches) { return std::max(1, kRunLaunches / std::max(launches, 1)); }

double device_sample_us(DeviceClock& clock, const std::function<void()>& run, int batch) {
  double hold_us = kLeastHold_us, sample_us = 0;
  for (int i = 0; i < kTries; ++i) {
    clock.synchronize();
    clock.occupy(hold_us);
    clock.mark_begin();
    const double before_us = clock.host_us();
    for (int k = 0; k < batch; ++k) run();
    const double handing_us = clock.host_us() - before_us;
    clock.mark_end();
    sample_us = clock.elapsed_us() / batch;
    // All was queued while the stream was held, or holds it longer than handing over takes anyhow.
    if (handing_us <= hold_us || hold_us >= kLongestHold_us) break;
    hold_us = std::min(kMargin * handing_us, kLongestHold_us);
  }
  return sample_us;
}

}  // namespace rlgo::exec

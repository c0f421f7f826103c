// How long a device works, without the time that the host takes to hand it the work. Between two events of a stream
// lies whichever of the two is slower, and short kernels are done before the host has handed over the next one: so the
// stream gets something else to do first, until all of the batch is queued behind it. That keeps the device's clocks
// up, too.
#pragma once

#include <functional>

namespace rlgo::exec {

// A stream holds about 1,000 launches; beyond that the host waits for the device, and the two cannot be distinguished.
// What occupies the stream takes some of them.
constexpr int kHoldLaunches = 400, kRunLaunches = 500;
// Runs of so many launches each that are queued without a wait; at least 1.
int most_runs(int launches);

// A device's stream, and the host's time. A fake stands in for it in tests.
class DeviceClock {
 public:
  virtual ~DeviceClock() = default;
  virtual double host_us() = 0;    // of any origin
  virtual void synchronize() = 0;  // waits until the stream is empty
  virtual void occupy(
      double us) = 0;  // gives the stream work for about so long (kHoldLaunches launches at most), and returns at once
  virtual void mark_begin() = 0;    // from here
  virtual void mark_end() = 0;      // to here
  virtual double elapsed_us() = 0;  // between the two; waits for the second
};

// The device's time for a run of `batch` runs, us. At least one run has been made before (warm-up).
double device_sample_us(DeviceClock& clock, const std::function<void()>& run, int batch);

}  // namespace rlgo::exec

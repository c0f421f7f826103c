// The clock of a search: for its limits, and for the seconds that it reports.
#pragma once

#include "core/base/stopwatch.h"

namespace rlgo::search {

// Seconds since it was made: on the wall, or, with `cpu`, of the processor in the thread that made it and asks it. The
// latter compare searches on a machine that is busy with other things too.
class SearchClock {
 public:
  explicit SearchClock(bool cpu) : cpu_(cpu) {}
  double seconds() const { return cpu_ ? thread_.us() * 1e-6 : wall_.seconds(); }

 private:
  bool cpu_;
  Stopwatch wall_;
  ThreadStopwatch thread_;
};

}  // namespace rlgo::search

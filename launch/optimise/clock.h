// How the time of `rlgo optimise` is shared out, and what its progress bar says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/stopwatch.h"
#include "launch/status_line.h"

namespace rlgo::launch {

class OptimiseClock {
 public:
  OptimiseClock(StatusLine& line, double seconds, const std::function<bool()>& interrupted)
      : line_(line), seconds_(seconds), interrupted_(interrupted) {}
  double passed() const { return watch_.seconds(); }
  // True when `share` of all time is over, or the user wants an end.
  bool over(double share) const { return interrupted() || passed() >= share * seconds_; }
  bool interrupted() const { return interrupted_(); }
  double left() const { return seconds_ - passed(); }

  void phase(std::string name);
  void costs(double initial_us, double best_us);
  void graphs(int64_t count) { graphs_ = count; }
  // Groups of operators that are being timed; done == of: none.
  void pricing(size_t done, size_t of);
  void show(bool force = false) { line_.show(text(), force); }
  void clear() { line_.clear(); }
  // "[########............]  search (taso)  12345 graphs  cost 8.1 ms (-28.1 %)  36 s left"
  std::string text() const;

 private:
  StatusLine& line_;
  double seconds_;
  const std::function<bool()>& interrupted_;
  Stopwatch watch_;
  std::string phase_ = "start";
  double initial_us_ = 0, best_us_ = 0;
  int64_t graphs_ = 0;
  size_t timed_ = 0, to_time_ = 0;
};

}  // namespace rlgo::launch

// Elapsed time. The only clock outside `launch`; it must never influence a result, only a report or a measured cost.
#pragma once

#include <chrono>
#include <ctime>

namespace rlgo {

class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  double us() const { return seconds() * 1e6; }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_;
};

// Time that the calling thread has run: unlike Stopwatch it stands still while others have the processor, so a busy
// machine hardly changes it. Read it in the thread that made it.
class ThreadStopwatch {
 public:
  ThreadStopwatch() : start_us_(now_us()) {}
  double us() const { return now_us() - start_us_; }

 private:
  static double now_us() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
  }
  double start_us_;
};

}  // namespace rlgo

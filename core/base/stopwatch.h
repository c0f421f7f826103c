// Elapsed time. The only clock outside `launch`; it must never influence a result, only a report or a measured cost.
#pragma once

#include <chrono>

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

}  // namespace rlgo

// How a training run goes, as one line.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status_line.h"
#include "core/base/stopwatch.h"

namespace rlgo::learner {

class Progress {
 public:
  Progress(StatusLine& line, int64_t epochs, double seconds) : line_(line), epochs_(epochs), seconds_(seconds) {}
  void phase(std::string name) { phase_ = std::move(name); }
  void start(int64_t epoch) {  // the first epoch of this run
    first_epoch_ = epoch_ = epoch;
    watch_.restart();
  }
  void epoch_done(int64_t epoch) { epoch_ = epoch; }
  void steps(int64_t received) { steps_ += received; }
  void costs(double initial_us, double best_us) {  // of the original graph and the best
    initial_us_ = initial_us;
    best_us_ = best_us;
  }
  void show(bool force = false) { line_.show(text(), force); }
  // "train  epoch 3/30  812 steps/s  best 78.1 ms (-28.1 %)  4 min 10 s left"
  std::string text() const;

 private:
  StatusLine& line_;
  int64_t epochs_;
  double seconds_;
  std::string phase_ = "start";
  int64_t first_epoch_ = 0, epoch_ = 0, steps_ = 0;
  double initial_us_ = 0, best_us_ = 0;
  Stopwatch watch_;
};

}  // namespace rlgo::learner

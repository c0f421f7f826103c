// Is one model faster than another, in the next process too? A test that may be looked at after every process.
//
// Where memory lies is drawn once for each process of a runtime, and makes a model faster or slower for as long as that
// process lives: all rounds within it share one draw. So a process is one observation, the log of the ratio that its
// paired rounds agree on. How much processes differ is estimated from them, and the interval is that of the ratio in a
// *further* process (a prediction interval, each end with an error of kError), not that of a mean. "Faster" means that
// its upper end is below 1.
//
// Processes differ by more than their draws where they have few rounds. What rounds within a process differ by shows
// how much of it is their noise: that part widens what is known about the mean, and not the draw of a further process.
// Only what is surely noise is taken off.
//
// All looks together, from the third process on, call equal models faster in about 1 % of campaigns at most: where
// processes differ by 0.3 to 30 % and rounds by 0 to 10 %, normally or with heavier tails
// (tests/core/optimise/sequential_test.cc). Two processes alone, or three that happen to agree where memory has just
// two layouts, would show nothing; so kUsual are run where there is time.
#pragma once

#include <span>
#include <vector>

namespace rlgo::optimise {

class SequentialRatio {
 public:
  static constexpr double kError = 0.01;  // of "faster", and of "slower", while it is not true
  static constexpr int kLeast = 3;        // processes with which something may be shown
  static constexpr int kUsual = 4;        // where there is time
  // Spread of a model's processes that is known before the first one: it counts as one observation more.
  static constexpr double kUsualSpread = 0.01;

  // Quotients (new time / old time, > 0) of the rounds in one process; their median counts. Not empty.
  void add(std::span<const double> quotients);

  int count() const { return static_cast<int>(logs_.size()); }
  // Geometric mean over processes; 1 before the first one.
  double ratio() const;
  // The ratio in a further process is in [lower, upper], with an error of kError at each end; 0 and infinity before
  // kLeast processes.
  double lower() const;
  double upper() const;
  bool faster() const { return upper() < 1; }
  bool slower() const { return lower() > 1; }
  // Whether faster() or slower() may still come true with `most` processes: where the mean stays, and they turn out to
  // differ by half as much as they seem to. True before kLeast.
  bool may_be_shown(int most) const;

 private:
  double mean() const;
  // Half of the width of the interval in logs if there were `count` processes that differ by `scale` times as much.
  double reach(int count, double scale) const;

  std::vector<double> logs_;
  std::vector<double> noises_;  // variance of the mean of a process's rounds, by what they differ by; 0: one round
};

}  // namespace rlgo::optimise

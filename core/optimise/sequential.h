// Is one model faster than another? A test that may be looked at after every measurement.
//
// Both models are loaded together again and again; after each load a few rounds run both, in random order. In a round
// the quotient of the two times is what counts: a busy machine, a drifting clock, or a heavy tail meets both runs of a
// pair alike. Were both models equally fast, each quotient would be below 1 as often as above it, whatever came before:
// so a bet on "below" is a fair game, and its capital exceeds 1/a with probability a at most, at whatever time it is
// looked at (Ville 1939; Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting"). The
// bets are mixed over all stakes. Inverted, the same capital gives an interval that holds at every time.
//
// Two loads of the same file differ by a little for good (where memory lay). So two bets run side by side, each with
// half of the error: one counts loads (the median quotient of each) and allows 0.5 %, the other counts rounds and
// allows the 5 % that loads may differ by, for differences that need not many loads to be seen.
#pragma once

#include <span>
#include <vector>

namespace rlgo::optimise {

// Wins among `trials` fair games with which the capital of the mixed bets reaches 1 / `error`; more than `trials` where
// none do. trials >= 0, 0 < error < 1.
int least_wins(int trials, double error);

class SequentialRatio {
 public:
  static constexpr double kError = 0.01;           // of "faster", and of "slower", while it is not true
  static constexpr double kLoadAllowance = 0.005;  // medians of loads
  static constexpr double kRoundAllowance = 0.05;  // single rounds, once there are kLeastLoads loads
  static constexpr int kLeastLoads = 3;

  // Quotients (new time / old time, > 0) of the rounds after one load. Not empty.
  void add_load(std::span<const double> quotients);

  int loads() const { return static_cast<int>(load_logs_.size()); }
  int rounds() const { return static_cast<int>(round_logs_.size()); }
  // Median over loads of their median quotient; 1 before the first one.
  double ratio() const;
  // The ratio is in [lower, upper] with an error of kError at each end; 0 and infinity where nothing is known yet.
  double lower() const;
  double upper() const;
  bool faster() const { return upper() < 1; }
  bool slower() const { return lower() > 1; }
  // Whether faster() or slower() may come true by the single rounds once `rounds` were run, in more than kLeastLoads
  // loads: where each further round shows all that a round can.
  bool may_be_shown(int rounds) const;

 private:
  std::vector<double> load_logs_, round_logs_;  // sorted
};

}  // namespace rlgo::optimise

// Models timed against each other under the runtime that will serve them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/cost/runtime.h"
#include "core/optimise/plan.h"
#include "core/optimise/sequential.h"

namespace rlgo::optimise {

// End-to-end latency of the original and of one other model, and what is known about their ratio (sequential.h).
struct Latency {
  double before_us = 0;                 // median of the original's runs
  double ratio = 1;                     // after / before
  double lower = 0, upper = 0;          // interval of the ratio in a further process (or load)
  int processes = 0;                    // fresh ones that it was measured in; 0: in rlgo's own process, load by load
  cost::LoadCost loading[2];            // of both, the least of the processes that loaded it first
  int loads = 0, rounds = 0;            // how often both were loaded, and run
  std::string error = "not measured";   // "" where it was
  bool faster = false, slower = false;  // shown, with SequentialRatio::kError
  bool ok() const { return error.empty(); }
  double after_us() const { return before_us * ratio; }
};
// What is printed: "12.3 ms -> 9.84 ms: -20.00 % (-22.10 to -18.00 %), 1.25x; RUNTIME".
std::string to_text(const Latency& latency, const std::string& runtime);
// "32 rounds in 4 fresh processes; the interval is that of a further process, with an error of 1 % at each end".
std::string effort_text(const Latency& latency);

class Benchmark {  // of candidates against the original, in turns
 public:
  // Refers to the caller's objects. `seed`: of the orders in which models are loaded and run.
  Benchmark(cost::Runtime& runtime, cost::RunnableModel original, uint64_t seed = 0)
      : runtime_(runtime), original_(std::move(original)), comparisons_(seed) {}
  // Latencies in turns, Comparison::models[0] being the original: `least` rounds, then more, up to `repeats`, until
  // `seconds` are over. `twin`: the original runs twice, for the noise. A failure is reported in the result.
  cost::Comparison compare(std::span<const cost::RunnableModel> others, int repeats, double seconds, int least,
                           bool twin = true);
  // Further comparisons run in a fresh process; false: there is none, or none that starts.
  bool restart();
  // Both models, in one fresh process of the runtime after the other, each of which loads and runs them in turns; where
  // the runtime lives in this process, or not `fresh`, load by load. It ends when SequentialRatio shows that one is
  // faster, or can no longer show it, when `seconds` are over, or after `most_rounds` (>= 1), unless `should_stop`.
  // SequentialRatio::kLeast of them are made in any case, of fewer rounds where time is short; more than there is time
  // for, until `should_stop`, where the other model seems to be faster by 3 % or more and further ones may show it.
  Latency measure(const cost::RunnableModel& other, int most_rounds, double seconds,
                  const std::function<bool()>& should_stop = {}, bool fresh = true);
  static constexpr int kRoundsOfALoad = 4;
  static constexpr int kLeastRounds = SequentialRatio::kLeast * kRoundsOfALoad;
  // What measure() takes where there is time, by the comparisons so far and the runtime's latest start.
  double least_s() const {
    return SequentialRatio::kUsual * (runtime_.start_s() + timing_.compare_s(2, kRoundsOfALoad));
  }
  // The same in the fewest processes with which something may be shown, one round in each.
  double fewest_s() const { return SequentialRatio::kLeast * (runtime_.start_s() + timing_.compare_s(2, 1)); }
  // Of the comparisons so far.
  const TimingEstimate& timing() const { return timing_; }

 private:
  // Rounds that take a part of what starting a process and loading both models take: fewer would waste that.
  int worthwhile_rounds() const;
  // Rounds of both models in the process as it is, in about `seconds` and at most `rounds`: their quotients, and the
  // original's times. `first`: which of them is loaded first. Sets latency.error where that fails.
  std::vector<double> rounds_of(std::span<const cost::RunnableModel> both, int rounds, double seconds, int first,
                                Latency& latency, std::vector<double>& medians_us);

  cost::Runtime& runtime_;
  cost::RunnableModel original_;
  TimingEstimate timing_;
  uint64_t comparisons_;
};

inline constexpr double kLeastMargin = 0.005;  // of a ratio, however often it was timed

// What the median of paired quotients is uncertain by: the larger of `noise`, what the same file showed against itself,
// the half-width of the 95 % interval of the median (1.57 interquartile ranges, `spread`, over the root of the samples,
// McGill et al. 1978), and kLeastMargin. The first two count 1 + 1.8 / (samples - 1) times, about what Student's t
// adds: few samples say less than they show.
double margin(double noise, double spread, double samples);
// The same of a model in a comparison.
double margin_of(const cost::Comparison& comparison, size_t model);

}  // namespace rlgo::optimise

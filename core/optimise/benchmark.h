// Models timed against each other under the runtime that will serve them.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/cost/runtime.h"
#include "core/optimise/plan.h"
#include "core/optimise/sequential.h"

namespace rlgo::optimise {

// End-to-end latency of the original and of one other model, and what is known of their ratio (sequential.h).
struct Latency {
  double before_us = 0;                 // median of the original's runs
  double ratio = 1;                     // after / before
  double lower = 0, upper = 0;          // interval of the ratio
  int loads = 0, rounds = 0;            // how often both were loaded, and run
  std::string error = "not measured";   // "" where it was
  bool faster = false, slower = false;  // shown, with SequentialRatio::kError
  bool ok() const { return error.empty(); }
  double after_us() const { return before_us * ratio; }
};
// What is printed: "12.3 ms -> 9.84 ms: -20.00 % (-22.10 to -18.00 %), 1.25x; RUNTIME".
std::string to_text(const Latency& latency, const std::string& runtime);

class Benchmark {  // of candidates against the original, in turns
 public:
  // Refers to the caller's objects. `seed`: of the orders in which models are loaded and run.
  Benchmark(cost::Runtime& runtime, cost::RunnableModel original, uint64_t seed = 0)
      : runtime_(runtime), original_(std::move(original)), comparisons_(seed) {}
  // Latencies in turns, Comparison::models[0] being the original: `least` rounds, then more, up to `repeats`, until
  // `seconds` are over. A failure is told in the result.
  cost::Comparison compare(std::span<const cost::RunnableModel> others, int repeats, double seconds, int least);
  // Loads both and runs them for a few rounds, again and again, until it is shown that one is faster, `seconds` are
  // over, or `most_rounds` (>= 1) were run, unless `should_stop`. kLeastRounds of them are run in any case, but where
  // `seconds` are over and these would show nothing, or no more than fewer did; three times as many where the other
  // one seems to be faster by more than a tenth, which a busy machine makes hard to show.
  Latency measure(const cost::RunnableModel& other, int most_rounds, double seconds,
                  const std::function<bool()>& should_stop = {});
  static constexpr int kLeastRounds = 16;
  // What measure() takes at least, by the comparisons so far.
  double least_s() const { return kLeastLoads * pace_.compare_s(2, kLeastRounds / kLeastLoads); }
  // Of the comparisons so far.
  const Pace& pace() const { return pace_; }

 private:
  static constexpr int kLeastLoads = 4;

  cost::Runtime& runtime_;
  cost::RunnableModel original_;
  Pace pace_;
  uint64_t comparisons_;
};

// What a ratio of a comparison is uncertain by: the larger of what the same file showed against itself, the half-width
// of the 95 % interval of the median (1.57 interquartile ranges over the root of the samples, McGill et al. 1978), and
// 0.5 %. The first two count 1 + 1.8 / (samples - 1) times, about what Student's t adds: few samples say less than they
// show.
double margin_of(const cost::Comparison& comparison, size_t model);

}  // namespace rlgo::optimise

// Models timed against each other under the runtime that will serve them.
#pragma once

#include <span>

#include "core/cost/runtime.h"
#include "core/optimise/plan.h"

namespace rlgo::optimise {

class Benchmark {
 public:
  // Refers to the caller's objects.
  Benchmark(cost::Runtime& runtime, cost::RunnableModel original) : runtime_(runtime), original_(std::move(original)) {}
  // Latencies in turns, Comparison::models[0] being the original: `least` rounds, then more, up to `repeats`, until
  // `seconds` are over. A failure is told in the result.
  cost::Comparison compare(std::span<const cost::RunnableModel> others, int repeats, double seconds, int least);
  // Of the comparisons so far.
  const Pace& pace() const { return pace_; }

 private:
  cost::Runtime& runtime_;
  cost::RunnableModel original_;
  Pace pace_;
  uint64_t comparisons_ = 0;
};

// What a ratio of a comparison is uncertain by: the larger of what the same file showed against itself, the half-width
// of the 95 % interval of the median (1.57 interquartile ranges over the root of the samples, McGill et al. 1978), and
// 0.5 %. The first two count 1 + 1.8 / (samples - 1) times, about what Student's t adds: few samples say less than they
// show.
double margin_of(const cost::Comparison& comparison, size_t model);

}  // namespace rlgo::optimise

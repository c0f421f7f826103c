// How operators and graphs are timed, whatever runtime runs them.
#pragma once

#include "core/base/options.h"

namespace rlgo::cost {

struct TimingOptions {
  int warmup = 2;              // runs before the first sample, >= 0
  int repeats = 9;             // samples, >= 1; the median counts
  double min_sample_us = 500;  // what is shorter runs several times per sample, so that it lasts at least this long
  int threads = 1;
  bool learned = true;  // what is not timed is estimated by learned prices where there are any; else by a formula
};
// Options cost.warmup, cost.repeats, cost.min-sample-us, cost.threads, cost.learned.
void declare(OptionSink& sink, TimingOptions& options);

}  // namespace rlgo::cost

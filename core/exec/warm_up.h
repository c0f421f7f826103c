// Before a whole model is timed.
#pragma once

#include <functional>

namespace rlgo::exec {

// From here on (us) a run is slow: one run warms the model up, and one makes a sample.
constexpr double kSlowRun_us = 1e5;

// Warms a model up and shows how many runs a sample takes: so many that it lasts `min_sample_us`, at most `most`.
// `sample_us(n)`: runs it n times and returns the time of one. `warmup` runs at least, 1 where a run is slow.
int warm_up(const std::function<double(int)>& sample_us, int warmup, double min_sample_us, int most);

}  // namespace rlgo::exec

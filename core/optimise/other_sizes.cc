#include "core/optimise/other_sizes.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::optimise {
namespace {

constexpr int kMostRounds = 48;
constexpr double kSeconds = 2;  // at each of the sizes; at the smallest, whatever the time

}  // namespace

void measure_at_sizes(cost::Runtime& runtime, const cost::InputShapes& usual, Benchmark& benchmark,
                      const OptimiseClock& clock, Result& result) {
  const auto stop = [&] { return clock.interrupted() || clock.left_to_end() < benchmark.least_s(); };
  for (const SizeRun& run : result.ran_at) {
    const double wanted_s = std::max(clock.left(), result.at_sizes.empty() ? kSeconds : 0.0);
    const double left_s = std::min(wanted_s, clock.left_to_end());
    if (stop() || benchmark.least_s() > left_s) break;  // about as long as at the sizes before
    runtime.set_input_shapes(run.shapes);
    result.at_sizes.push_back(
        {run.sizes, benchmark.measure(result.best().runnable(), kMostRounds, std::min(kSeconds, left_s), stop)});
  }
  runtime.set_input_shapes(usual);
}

std::string at_sizes_text(const std::vector<SizeLatency>& at_sizes) {
  std::vector<std::string> parts;
  for (const auto& [sizes, timed] : at_sizes) {
    if (!timed.ok()) continue;
    const std::string interval = std::isfinite(timed.upper) ? fmt::format("{:.2f} to {:.2f}", timed.lower, timed.upper)
                                                            : std::string("one process, no interval");
    parts.push_back(fmt::format("at {} {}{:.2f} ({}){}", sizes, timed.slower ? "slower: " : "", timed.ratio, interval,
                                parts.empty() ? " of the latency" : ""));
  }
  return join(parts, ", ");
}

}  // namespace rlgo::optimise

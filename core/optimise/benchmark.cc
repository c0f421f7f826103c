#include "core/optimise/benchmark.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/exec/measure.h"
#include "core/optimise/model.h"
#include "launch/session.h"

namespace rlgo::launch {
namespace {

constexpr double kLeastMargin = 0.005;

measure::Timing timing_of(const exec::Measurement& measured) {
  measure::Timing timing;
  timing.median_us = timing.min_us = measured.median_us;
  timing.spread_us = measured.spread_us;
  timing.samples = measured.samples;
  return timing;
}

}  // namespace

measure::Comparison Racetrack::race(std::span<const std::filesystem::path> files, int repeats, double seconds,
                                    int least) {
  const Stopwatch watch;
  auto out = measurer_ != nullptr ? measurer_->compare(files, repeats, seconds, least)
                                  : in_libtorch(files, repeats, seconds, least);
  if (out.error.empty()) pace_.note(files.size() + 1, out.models[0].samples, watch.seconds());
  return out;
}

measure::Comparison Racetrack::in_libtorch(std::span<const std::filesystem::path> files, int repeats, double seconds,
                                           int least) const {
  std::vector<graph::Graph> graphs;
  std::vector<const graph::Graph*> runs;
  for (const auto& file : files) {
    RunConfig one = config_;
    one.graph = file.string();
    if (&file != &files[0]) one.dims.clear();  // rlgo wrote it: they are fixed there, and the others still open
    graphs.push_back(load_model(one, true).graph);
  }
  for (const auto& graph : graphs) runs.push_back(&graph);
  runs.push_back(&graphs[0]);  // A/A
  exec::MeasureOptions options = measure_options(config_);
  options.repeats = repeats;
  options.least_repeats = std::min(least, repeats);
  options.max_seconds = seconds;
  const auto times = exec::measure_graphs(runs, device_, options);
  measure::Comparison out;
  const double first_us = times[0].median_us;
  for (size_t k = 0; k < graphs.size(); ++k) {
    out.models.push_back(timing_of(times[k]));
    out.ratio.push_back(times[k].median_us / first_us);
    out.ratio_spread.push_back(std::hypot(times[k].spread_us, times[0].spread_us) / first_us);
  }
  out.noise = std::abs(1 - times.back().median_us / first_us);
  return out;
}

double margin_of(const measure::Comparison& race, size_t model) {
  const double samples = std::max(2, race.models[model].samples);
  const double seen = std::max(race.noise, 1.57 * race.ratio_spread[model] / std::sqrt(samples));
  return std::max(seen * (1 + 1.8 / (samples - 1)), kLeastMargin);
}

}  // namespace rlgo::launch

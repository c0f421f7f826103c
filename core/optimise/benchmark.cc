#include "core/optimise/benchmark.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/stopwatch.h"

namespace rlgo::optimise {
namespace {

constexpr double kLeastMargin = 0.005;

}  // namespace

cost::Comparison Benchmark::compare(std::span<const cost::RunnableModel> others, int repeats, double seconds,
                                    int least) {
  const Stopwatch watch;
  std::vector<cost::RunnableModel> models = {original_};
  models.insert(models.end(), others.begin(), others.end());
  auto out = runtime_.compare(models, {repeats, seconds, least, ++comparisons_, true});
  if (out.error.empty()) pace_.note(models.size() + 1, out.models[0].samples, watch.seconds());
  return out;
}

double margin_of(const cost::Comparison& comparison, size_t model) {
  const double samples = std::max(2, comparison.models[model].samples);
  const double seen = std::max(comparison.noise, 1.57 * comparison.ratio_spread[model] / std::sqrt(samples));
  return std::max(seen * (1 + 1.8 / (samples - 1)), kLeastMargin);
}

}  // namespace rlgo::optimise

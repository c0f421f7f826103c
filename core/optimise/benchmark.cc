#include "core/optimise/benchmark.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/base/stopwatch.h"

namespace rlgo::optimise {
namespace {

constexpr double kLeastMargin = 0.005;
constexpr int kRoundsOfALoad = 4;
// A ratio that is worth more rounds than there is time for, as a busy machine hides it, and how many.
constexpr double kPromising = 0.9;
constexpr int kPromisingRounds = 48;

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

Latency Benchmark::measure(const cost::RunnableModel& other, int most_rounds, double seconds,
                           const std::function<bool()>& should_stop) {
  const Stopwatch watch;
  const cost::RunnableModel both[] = {original_, other};
  SequentialRatio test;
  std::vector<double> medians_us;
  Latency out;
  while (test.rounds() < most_rounds) {
    const int least = std::min(most_rounds, test.ratio() < kPromising ? kPromisingRounds : kLeastRounds);
    const bool begun = test.loads() > 0, shown = test.faster() || test.slower();
    const bool over = begun && watch.seconds() > seconds;
    if (begun && should_stop && should_stop()) break;
    if (test.rounds() >= std::min(least, kLeastRounds) && shown) break;
    if (over && (shown || test.rounds() >= least || !test.may_be_shown(least))) break;
    const auto found = runtime_.compare(both, {kRoundsOfALoad, 0, 1, ++comparisons_, false});
    out.error = found.error;
    for (const auto& timing : found.models) {
      if (out.error.empty()) out.error = timing.error;
    }
    if (!out.ok() && begun && should_stop && should_stop()) {  // cut short: the loads before count
      out.error.clear();
      break;
    }
    if (!out.ok()) return out;
    test.add_load(found.quotients[1]);
    medians_us.push_back(found.models[0].median_us);
  }
  out.before_us = median(medians_us);
  out.ratio = test.ratio();
  out.lower = test.lower();
  out.upper = test.upper();
  out.loads = test.loads();
  out.rounds = test.rounds();
  out.faster = test.faster();
  out.slower = test.slower();
  return out;
}

std::string to_text(const Latency& latency, const std::string& runtime) {
  if (!latency.ok()) return fmt::format("not measured under {}: {}", runtime, latency.error);
  const auto percent = [](double ratio) {
    return std::isfinite(ratio) && ratio > 0 ? fmt::format("{:+.2f}", 100 * (ratio - 1)) : std::string("?");
  };
  const auto ms = [](double us) {
    return us < 1000 ? fmt::format("{:.4f} ms", us / 1000) : fmt::format("{:.3f} ms", us / 1000);
  };
  return fmt::format("{} -> {}: {} % ({} to {} %), {:.2f}x; {}", ms(latency.before_us), ms(latency.after_us()),
                     percent(latency.ratio), percent(latency.lower), percent(latency.upper), 1 / latency.ratio,
                     runtime);
}

double margin_of(const cost::Comparison& comparison, size_t model) {
  const double samples = std::max(2, comparison.models[model].samples);
  const double seen = std::max(comparison.noise, 1.57 * comparison.ratio_spread[model] / std::sqrt(samples));
  return std::max(seen * (1 + 1.8 / (samples - 1)), kLeastMargin);
}

}  // namespace rlgo::optimise

#include "core/optimise/benchmark.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/base/stopwatch.h"

namespace rlgo::optimise {
namespace {

constexpr int kLoadsOfAProcess = 2;
// A ratio that is worth more processes than there is time for: a few of them, or a busy machine, hide it.
constexpr double kPromising = 0.97;
constexpr double kWorthwhile = 0.35;   // of the time in which a process starts and loads both models, for its rounds
constexpr double kLeastSeconds = 0.5;  // for the rounds in a process, or as long as its start took: whatever the time

// Whether there are processes enough; `in_time`: there is time for another one.
bool is_enough(const SequentialRatio& test, int most, bool in_time) {
  if (test.count() >= most) return true;
  if (test.faster() || test.slower() || !test.may_be_shown(most))
    return test.count() >= (in_time ? SequentialRatio::kUsual : SequentialRatio::kLeast);
  return !in_time && test.count() >= SequentialRatio::kLeast && test.ratio() >= kPromising;
}

void note_loading(const cost::LoadCost& found, cost::LoadCost& least) {
  if (!found.known()) return;
  least = least.known() ? cost::LoadCost{std::min(least.seconds, found.seconds), std::min(least.bytes, found.bytes)}
                        : found;
}

}  // namespace

cost::Comparison Benchmark::compare(std::span<const cost::RunnableModel> others, int repeats, double seconds, int least,
                                    bool twin) {
  const Stopwatch watch;
  std::vector<cost::RunnableModel> models = {original_};
  models.insert(models.end(), others.begin(), others.end());
  auto out = runtime_.compare(models, {repeats, seconds, least, ++comparisons_, twin});
  if (out.error.empty())
    timing_.note(models.size() + (twin ? 1 : 0), out.models[0].samples, watch.seconds(),
                 1e-6 * out.models[0].median_us);
  return out;
}

bool Benchmark::restart() {
  try {
    return runtime_.restart();
  } catch (const Error&) {
    return false;
  }
}

int Benchmark::worthwhile_rounds() const {
  const double load_s = timing_.compare_s(2, 0), round_s = timing_.compare_s(2, 1) - load_s;
  if (round_s <= 0) return 1;
  return static_cast<int>(std::clamp(kWorthwhile * (runtime_.start_s() + load_s) / round_s, 1.0, 1.0 * kRoundsOfALoad));
}

std::vector<double> Benchmark::rounds_of(std::span<const cost::RunnableModel> both, int rounds, double seconds,
                                         int first, Latency& latency, std::vector<double>& medians_us) {
  const Stopwatch watch;
  std::vector<double> quotients;
  for (int left = rounds; left > 0 && (quotients.empty() || watch.seconds() < seconds);) {
    const int most = std::min(left, kRoundsOfALoad);
    const int some = timing_.rounds(seconds, both.size(), std::min(most, worthwhile_rounds()), most);
    const Stopwatch load;
    const auto found = runtime_.compare(both, {some, 0, 1, ++comparisons_, false, first});
    first = 1 - first;
    for (size_t k = 0; k < found.models.size(); ++k) note_loading(found.models[k].loading, latency.loading[k]);
    latency.error = found.error;
    for (const auto& timing : found.models) {
      if (latency.error.empty()) latency.error = timing.error;
    }
    if (!latency.ok()) return {};
    timing_.note(both.size(), some, load.seconds(), 1e-6 * found.models[0].median_us);
    quotients.insert(quotients.end(), found.quotients[1].begin(), found.quotients[1].end());
    medians_us.push_back(found.models[0].median_us);
    left -= some;
    ++latency.loads;
    latency.rounds += some;
  }
  return quotients;
}

Latency Benchmark::measure(const cost::RunnableModel& other, int most_rounds, double seconds,
                           const std::function<bool()>& should_stop, bool fresh) {
  using Test = SequentialRatio;
  const Stopwatch watch;
  const cost::RunnableModel both[] = {original_, other};
  Test test;
  std::vector<double> medians_us;
  Latency out;
  double last_s = 0;  // that a process took
  for (;;) {
    const int each = std::max(1, std::min(kRoundsOfALoad * (fresh ? kLoadsOfAProcess : 1), most_rounds / Test::kLeast));
    const double begin_s = watch.seconds();
    if (is_enough(test, std::max(Test::kLeast, most_rounds / each), begin_s + last_s <= seconds)) break;
    if (test.count() > 0 && should_stop && should_stop()) break;
    try {
      fresh = fresh && runtime_.restart();
    } catch (const Error& e) {
      out.error = fmt::format("{} does not start again: {}", runtime_.name(), e.what());
      return out;
    }
    const double start_s = fresh ? runtime_.start_s() : 0;
    const double part_s = (seconds - begin_s) / std::max(1, Test::kUsual - test.count()) - start_s;
    const auto quotients =
        rounds_of(both, each, std::max(part_s, std::max(start_s, kLeastSeconds)), test.count() % 2, out, medians_us);
    if (!out.ok() && test.count() > 0 && should_stop && should_stop()) {  // cut short: the processes before count
      out.error.clear();
      break;
    }
    if (!out.ok()) return out;
    test.add(quotients);
    if (fresh) out.processes = test.count();
    last_s = watch.seconds() - begin_s;
  }
  out.before_us = median(medians_us);
  out.ratio = test.ratio();
  out.lower = test.lower();
  out.upper = test.upper();
  out.faster = test.faster();
  out.slower = test.slower();
  return out;
}

std::string effort_text(const Latency& latency) {
  const std::string where =
      latency.processes > 0
          ? fmt::format("{} fresh processes; the interval is that of a further process", latency.processes)
          : fmt::format("{} loads in this process; the interval is that of a further load in it", latency.loads);
  return fmt::format("{} rounds in {}, with an error of 1 % at each end", latency.rounds, where);
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

double margin(double noise, double spread, double samples) {
  samples = std::max(2.0, samples);
  const double seen = std::max(noise, 1.57 * spread / std::sqrt(samples));
  return std::max(seen * (1 + 1.8 / (samples - 1)), kLeastMargin);
}

double margin_of(const cost::Comparison& comparison, size_t model) {
  return margin(comparison.noise, comparison.ratio_spread[model], comparison.models[model].samples);
}

}  // namespace rlgo::optimise

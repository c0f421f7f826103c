#include "core/optimise/last_stages.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/optimise/acceptance.h"
#include "core/report/evidence.h"
#include "core/rules/trace.h"

namespace rlgo::optimise {
namespace {

constexpr double kReportSeconds = 2;      // at most, for the costs after each rewrite
constexpr double kReportFraction = 0.25;  // of the time until the command must end
constexpr double kSwitchesSeconds = 1.5;  // for the runtime's own switches
constexpr double kSwitchesRuns = 12;      // of the model, that the first setting takes in any case
constexpr int kSwitchesLoads = 2;         // of it, that are worth waiting for
constexpr int kProfileRuns = 6;           // of it, that a profile takes

// Without a candidate that passed the checks.
Verdict nothing_checked(const Result& result) {
  const auto given_up = [](const Candidate& c) { return c.error.starts_with("given up"); };
  return {.touched = false,
          .text = result.touched || std::ranges::any_of(result.candidates, given_up)
                      ? "nothing found: no rewritten model passed the checks"
                      : "nothing found: no rewrite makes it faster"};
}

std::string timed_text(const Result& result) {
  const Latency& timed = result.end_to_end;
  const std::string change = fmt::format("{:+.2f} %", 100 * (timed.ratio - 1));
  if (!result.touched) return "nothing found: no rewrite makes it faster";
  if (!timed.ok()) return "the models could not be measured: " + timed.error;
  if (timed.faster) return fmt::format("improved: {} of the latency under {}", change, result.target);
  if (timed.slower) return fmt::format("nothing found: the best rewritten model is slower ({})", change);
  const std::string interval = std::isfinite(timed.upper)
                                   ? fmt::format("{:.3f} to {:.3f} of the latency", timed.lower, timed.upper)
                                   : fmt::format("{} rounds, no time for more", timed.rounds);
  return fmt::format("nothing found: {} is not shown to be faster ({})", change, interval);
}

}  // namespace

ReportCosts report_costs(cost::CostModel& model, const OptimiseClock& clock, const Result& result) {
  ReportCosts costs;
  const bool gathers = model.defer();
  const double until_s = clock.passed() + std::min(kReportSeconds, kReportFraction * clock.left_to_end());
  const auto note = [&](const graph::Graph& graph, size_t made) {
    if (clock.passed() >= until_s) throw Stopped("the costs after each rewrite are left out");
    costs.step_us.insert(costs.step_us.end(), made, cost::graph_cost(model, graph).runtime_us);
  };
  const auto& trace = result.best().trace;
  try {
    const auto stop = [&] { return clock.passed() >= until_s; };
    rules::replay(result.before, result.rules, trace, std::numeric_limits<int>::max(), note, stop);
  } catch (const Stopped&) {
    // It is a part of the report alone.
  }
  if (costs.step_us.size() < trace.size()) costs.step_us.clear();
  costs.before_op_us = report::prices_of(model, result.before);
  costs.after_op_us = report::prices_of(model, result.best().graph);
  if (gathers) model.flush();
  return costs;
}

Latency measure_end_to_end(const OptimiseOptions& options, const cost::Runtime& runtime, Benchmark& benchmark,
                           const OptimiseClock& clock, const Result& result) {
  const Candidate& best = result.best();
  Latency timed;
  if (best.file.empty() || !result.touched || !(result.checked || options.force)) return timed;
  const int most =
      result.interrupted ? Benchmark::kLeastRounds : std::max(options.check.repeats, Benchmark::kLeastRounds);
  // A process that is cut short states nothing: none is begun that takes too long.
  const auto stop = [&] { return clock.left_to_end() < runtime.start_s() + benchmark.timing().compare_s(2, 1); };
  if (stop()) {
    timed.error = "there is no time left for it";
    return timed;
  }
  return benchmark.measure(best.runnable(), most, result.interrupted ? 0 : std::max(0.0, clock.left()), stop);
}

std::vector<cost::SwitchTiming> measure_switches(const OptimiseOptions& options, cost::Runtime& runtime,
                                                 const TimingEstimate& timing, OptimiseClock& clock,
                                                 const Result& result) {
  const double least_s = std::max(kSwitchesRuns * timing.run_s(), timing.compare_s(kSwitchesLoads, 1));
  if (!options.switches || clock.interrupted() || clock.left_to_end() < kSwitchesSeconds + least_s) return {};
  std::vector<cost::RunnableModel> models = {{&result.before, options.model.graph}};
  if (result.touched && result.end_to_end.ok()) models.push_back(result.best().runnable());
  clock.phase("the runtime's switches", "the runtime's switches");
  return runtime.switches(models, kSwitchesSeconds);
}

cost::KeptOperators measure_kept(const OptimiseOptions& options, cost::Runtime& runtime, const TimingEstimate& timing,
                                 OptimiseClock& clock, const Result& result) {
  auto kept = cost::kept_operators(result.before, {});
  if (kept.kinds.empty() || clock.interrupted() || clock.left_to_end() < timing.compare_s(kProfileRuns, 1)) return kept;
  clock.phase("operators that are kept", "operators that are kept");
  return cost::kept_operators(result.before, runtime.operator_times({&result.before, options.model.graph}));
}

Verdict conclude(const OptimiseOptions& options, const Result& result) {
  const auto late = [](const Candidate& c) { return c.error.starts_with(kNotChecked); };
  if (std::ranges::any_of(result.candidates, late) && !result.checked)
    return {.touched = false,
            .text = std::string("nothing found: there was no time to check a rewritten model") +
                    (result.interrupted ? "" : "; give more --seconds")};
  if (!result.checked && !options.force) return nothing_checked(result);
  Verdict verdict{.touched = result.touched, .text = timed_text(result)};
  verdict.improved = result.touched && result.end_to_end.ok() && result.end_to_end.faster;
  verdict.forced = !verdict.improved && options.force;
  // Of a model without rewrites: what was computed on its way through rlgo.
  if (const Check* why = verdict.forced ? refusal(result.checks) : nullptr) {
    verdict.refused = true;
    verdict.text += fmt::format("; not written: the model as rlgo writes it differs ({}: {})", why->by, to_text(*why));
  }
  verdict.written =
      !options.out.empty() && !result.best().file.empty() && (verdict.improved || verdict.forced) && !verdict.refused;
  return verdict;
}

}  // namespace rlgo::optimise

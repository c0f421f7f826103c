#include "core/optimise/plan.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::optimise {
namespace {

// Loading a model and warming it up takes about as long as so many runs; of a slow model, as one (core/exec/warm_up.h).
constexpr int kLoadRuns = 5, kSlowLoadRuns = 1;
constexpr double kSlowRun_s = 1;
constexpr double kSearchFraction = 0.6,
                 kChooseFraction = 0.85;  // of all time, that are over when these end at the latest
constexpr double kTimingFraction = 0.35, kSweepFraction = 0.5,
                 kSweepsFraction = 0.65;      // of the time until searching ends
constexpr double kMoreTimingFraction = 0.85;  // of the time until choosing ends
// What searching and comparing have in any case, of the time that is left; of all time, to a bound, where little is:
// without them there is nothing to check.
// Of the bound (1.5 times the seconds, 25 runs): a little less, for what cannot be cut short.
constexpr double kBoundSeconds = 1.4, kBoundRuns = 22;
constexpr double kOverChooseFraction = 0.25;  // of what is left after the end of comparisons, for one that is late
constexpr double kLeastChecksFraction = 0.6;  // of what is left after comparisons, for checks
constexpr double kLeastSearchFraction = 0.25, kLeastCompareFraction = 0.15, kLeastOfAll = 0.2,
                 kLeastSearchBound_s = 1.5;

}  // namespace

void TimingEstimate::note(size_t models, int rounds, double seconds, double timed_s) {
  if (models == 0 || rounds <= 0 || seconds <= 0) return;
  const double one_s = seconds / static_cast<double>(models);
  const double slowest_s = timed_s > 0 ? timed_s : one_s / (rounds + kSlowLoadRuns);
  load_runs_ = slowest_s > kSlowRun_s ? kSlowLoadRuns : kLoadRuns;
  run_s_ = one_s / (rounds + load_runs_);
  timed_s_ = timed_s;
}

double TimingEstimate::compare_s(size_t models, int rounds) const {
  return run_s_ * static_cast<double>(models) * (rounds + load_runs_);
}

size_t TimingEstimate::models(double seconds, int rounds) const {
  const double most = 1e6, one_s = compare_s(1, rounds);
  return static_cast<size_t>(one_s > 0 ? std::clamp(seconds / one_s, 0.0, most) : most);
}

int TimingEstimate::rounds(double seconds, size_t models, int least, int most) const {
  const double all_s = run_s_ * static_cast<double>(models);
  if (all_s <= 0) return most;
  return static_cast<int>(std::clamp(seconds / all_s - load_runs_, double(least), double(std::max(least, most))));
}

TimePlan make_plan(double seconds, double passed_s, double last_s, double compare_s) {
  const double rest_s = std::max(0.0, seconds - passed_s);
  const double least_s = std::max(kLeastSearchFraction * rest_s, std::min(kLeastOfAll * seconds, kLeastSearchBound_s));
  TimePlan plan;
  plan.choose_s = std::min(kChooseFraction * seconds, seconds - last_s);
  plan.search_s = std::max(passed_s + least_s, std::min(kSearchFraction * seconds, plan.choose_s - compare_s));
  plan.choose_s = std::max(plan.choose_s, plan.search_s + kLeastCompareFraction * rest_s);
  const double left_s = plan.search_s - passed_s;
  plan.timing_s = passed_s + kTimingFraction * left_s;
  plan.sweep_s = passed_s + kSweepFraction * left_s;
  plan.sweeps_s = passed_s + kSweepsFraction * left_s;
  const bool cut = plan.search_s < kSearchFraction * seconds;
  const double late_s = std::max(kSearchFraction * seconds, std::min(kChooseFraction * seconds, seconds - compare_s));
  plan.late_s = cut ? late_s : plan.search_s;
  plan.more_timing_s = plan.search_s + kMoreTimingFraction * (plan.choose_s - plan.search_s);
  return plan;
}

Bound make_bound(double seconds, double run_s, double files_s) {
  return {kBoundSeconds * seconds + kBoundRuns * run_s + files_s};
}

double Bound::choose_s(double choose_s) const {
  return choose_s + std::max(0.0, kOverChooseFraction * (end_s - choose_s));
}

double Bound::checks_s(double passed_s, double least_s) const {
  const double left_s = std::max(0.0, end_s - passed_s);
  return passed_s + std::max(left_s - least_s, kLeastChecksFraction * left_s);
}

std::string overrun_text(double seconds, double passed_s, double last_s, double end_s, const std::string& synthetic) {
  if (passed_s + last_s <= seconds) return {};
  return fmt::format(
      "reading the model, its checks and the final comparison alone would take {:.0f} s here or more: checks have "
      "fewer "
      "inputs and smaller sizes, and --seconds {:g} may become {:.0f} s{}",
      std::ceil(passed_s + last_s), seconds, std::ceil(end_s),
      synthetic.empty()
          ? ""
          : "; the model leaves sizes open, and the synthetic sizes are large: give those that it will run at, "
            "which may be smaller than " +
                synthetic);
}

}  // namespace rlgo::optimise

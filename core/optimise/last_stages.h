// The stages of `rlgo optimise` behind the checks: each returns what it found.
#pragma once

#include <string>
#include <vector>

#include "core/cost/kept.h"
#include "core/cost/runtime.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/clock.h"
#include "core/optimise/optimise.h"
#include "core/optimise/plan.h"
#include "core/optimise/result.h"

namespace rlgo::optimise {

// Costs of the report, in us.
struct ReportCosts {
  std::vector<double> step_us;                    // after each rewrite; empty where there was no time to tell
  std::vector<double> before_op_us, after_op_us;  // by node id
};
// Nothing is measured for it: what is not known is estimated. Thousands of rewrites of a large graph take minutes, and
// go without.
ReportCosts report_costs(cost::CostModel& model, const OptimiseClock& clock, const Result& result);

// The chosen candidate against the file that was given. Not measured where it is the model as it was read (a model
// that nothing was done to is no faster, whatever a comparison states), has no file or was refused, unless `force`.
Latency measure_end_to_end(const OptimiseOptions& options, const cost::Runtime& runtime, Benchmark& benchmark,
                           const OptimiseClock& clock, const Result& result);

// The runtime's own switches, of the file that was given and, where it was timed, the chosen candidate.
std::vector<cost::SwitchTiming> measure_switches(const OptimiseOptions& options, cost::Runtime& runtime,
                                                 const TimingEstimate& timing, OptimiseClock& clock,
                                                 const Result& result);

// Operators that are kept as they are, with their part of the time where there is time to ask for it.
cost::KeptOperators measure_kept(const OptimiseOptions& options, cost::Runtime& runtime, const TimingEstimate& timing,
                                 OptimiseClock& clock, const Result& result);

// What came of it.
struct Verdict {
  bool touched = true, improved = false, forced = false, refused = false;  // see Result
  bool written = false;                                                    // the candidate is to be written
  std::string text = {};
};
Verdict conclude(const OptimiseOptions& options, const Result& result);

}  // namespace rlgo::optimise

// Which candidate is delivered: the best one that all checks accept.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/optimise/clock.h"
#include "core/optimise/optimise.h"
#include "core/optimise/plan.h"
#include "core/optimise/repair.h"
#include "core/optimise/result.h"
#include "core/optimise/verify.h"

namespace rlgo::optimise {

// False: the candidate is the model as it was read, and as fast.
bool is_touched(const Candidate& candidate, const LoadedModel& model);

// The best candidate that nothing speaks against, by its ratio, then its cost, and whose check takes at most so much
// effort (effort_of); 0, the model without rewrites, where none is better than that.
size_t next_best(std::span<const Candidate> candidates, double most_effort);
// What a check of it takes, about, in operations: its arithmetic on weights, and the bytes that are written and read.
double effort_of(const Candidate& candidate);

// How Candidate::error begins where there was no time for a check without which nothing is written.
constexpr const char* kNotChecked = "not checked in time";

class Acceptance {
 public:
  // Refers to the caller's objects. Model files go to `folder`. `benchmark`: what is timed after the checks, for which
  // they leave time. They are cut short at clock.deadline().
  Acceptance(const OptimiseOptions& options, const LoadedModel& model, cost::Runtime& runtime, cost::CostModel& cost,
             std::filesystem::path folder, OptimiseClock& clock, const Log& log, Result& result,
             const Benchmark& benchmark);
  // Checks the chosen candidate. One that is refused is reported and replaced by the same rewrites without those
  // that spoil it, then to the next best candidate, at last to the model without rewrites (at once when time is long
  // over). Where the checks without which nothing is written take too long, the next best one follows that is cheaper
  // to check. Sets result.chosen, touched, checks, checked. Throws Error where a rewrite is proved wrong: what shows it
  // is then left in a folder, which is named.
  void choose();

 private:
  bool accepts(const Candidate& candidate);
  // The candidate's rewrites without those that its first refused check does not like. False: nothing is left.
  bool add_repaired(size_t candidate);
  [[noreturn]] void report_wrong(const Candidate& candidate, const Check& check);
  bool accepts_part(const rules::Replayed& part, const Check& like);

  const OptimiseOptions& options_;
  const LoadedModel& model_;
  cost::Runtime& runtime_;
  cost::CostModel& cost_;
  std::filesystem::path folder_;
  OptimiseClock& clock_;
  const Log& log_;
  Result& result_;
  Verifier verifier_;
};

}  // namespace rlgo::optimise

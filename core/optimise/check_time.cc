// How much of the checks is made in the time that they have.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/optimise/original.h"
#include "core/optimise/verify.h"

namespace rlgo::optimise {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
// Before the first comparison in double precision: it takes about as long as so many runs in the runtime, noisy runs
// included. One in the runtime loads two models and runs each twice.
constexpr double kExactRuns = 24, kRuntimeRuns = 6;
constexpr double kExactFraction = 0.5;      // of the time for checks, that a comparison in double precision may take
constexpr double kLeastFraction = 0.4;      // of the time until checks must end, that they are given in any case
constexpr double kAbandonedFraction = 0.1;  // of the operations, once a run has proved too slow

}  // namespace

Check Verifier::skipped(Check check) const {
  check.finding = Finding::skipped;
  check.detail = "there is no time left for it";
  check.limits.clear();
  return check;
}

// Those that the original runs at; null: no more, or (in_time: false) no time.
const AtSizes* Verifier::other_sizes(size_t k, bool soon, bool& in_time) {
  try {
    return original_->other(k, soon);
  } catch (const Stopped&) {
    in_time = false;
    return nullptr;
  }
}

Verifier::Budget Verifier::budget() const { return {time_.left_s ? time_.left_s() : kNoLimit, time_.end}; }

double Verifier::exact_s() const { return exact_s_ > 0 ? exact_s_ : kExactRuns * time_.run_s; }

double Verifier::runtime_s() const {
  return runtime_.reads_files() ? std::max(time_.runtime_s, kRuntimeRuns * time_.run_s) : 0;
}

rules::Replayed Verifier::at_checked_sizes(const rules::Replayed& rewritten) const {
  if (!smaller_) return rewritten;
  const rules::Script replay(smaller_->graph, time_.rules, rewritten.trace, end_);
  return replay.prefix(replay.size());
}

bool Verifier::shrink(double fraction) {
  auto smaller = at_smaller_sizes(checked(), fraction, end_);
  if (!smaller) return false;
  auto original = std::make_unique<Original>(*smaller, options_.threads, options_.seed, end_);
  try {
    original->runs(1)->inner(0);
  } catch (const Stopped&) {
    throw;
  } catch (const Error&) {
    return false;  // shapes admit these sizes, values do not
  }
  original_ = std::move(original);  // before what it refers to
  smaller_ = std::move(smaller);
  exact_s_ = 0;
  return true;
}

void Verifier::choose_sizes(const Budget& budget) {
  if (!may_shrink()) return;
  const double has_s = kExactFraction * std::max(budget.seconds, kLeastFraction * budget.end.left());
  if (exact_s() > has_s) shrink(has_s / exact_s());
}

Check Verifier::exact(const rules::Replayed& rewritten, const Budget& budget) {
  // At sizes that may prove too slow, a part of the time; else all but what the runtime needs.
  const double left_s = budget.end.left(), half_s = kExactFraction * left_s;
  const double most_s = may_shrink() ? half_s : std::max(half_s, left_s - runtime_s());
  if (std::isfinite(left_s))
    limit_ = Deadline([&end = time_.end, rest_s = left_s - most_s] { return end.left() - rest_s; });
  Check check = exact_once(rewritten, budget);
  limit_ = {};
  try {
    if (check.finding == Finding::skipped && !budget.end.over() && may_shrink() && shrink(kAbandonedFraction))
      check = exact_once(rewritten, budget);
  } catch (const Stopped&) {
    // It stays skipped.
  }
  return check;
}

const Check* refusal(const std::vector<Check>& checks) {
  const auto wrong = std::ranges::find(checks, Finding::wrong, &Check::finding);
  if (wrong != checks.end()) return &*wrong;
  const auto first = std::ranges::find_if(checks, &Check::refuses);
  return first == checks.end() ? nullptr : &*first;
}

bool any_done(const std::vector<Check>& checks) { return std::ranges::any_of(checks, &Check::done); }

const Check* least_skipped(const std::vector<Check>& checks) {
  const bool in_runtime = std::ranges::find(checks, Check::Kind::runtime, &Check::kind) != checks.end();
  const auto is_least = [&](const Check& check) {
    return check.kind == Check::Kind::exact || check.kind == (in_runtime ? Check::Kind::runtime : Check::Kind::file);
  };
  const auto at = std::ranges::find_if(
      checks, [&](const Check& check) { return check.finding == Finding::skipped && is_least(check); });
  return at == checks.end() ? nullptr : &*at;
}

}  // namespace rlgo::optimise

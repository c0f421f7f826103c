#include "core/rulegen/prove/falsify.h"

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/rulegen/check/bounded.h"
#include "core/rulegen/check/check.h"

namespace rlgo::rulegen {
namespace {

CheckResult at_random_shapes(const rules::RuleSet& set, const ProveOptions& options, bool derived) {
  CheckOptions check;
  check.instances = options.check_instances;
  check.seed = options.seed;
  check.stop = options.stop;
  CheckResult result = check_rule(set, 0, check);
  if (derived && result.instances == 0) {
    constexpr int kLonger = 25;  // conditions that random shapes seldom meet
    check.attempts *= kLonger;
    result = check_rule(set, 0, check);
  }
  return result;
}

// Where random shapes show no difference: a permutation of three axes, or a fifth axis, may.
CheckResult at_small_shapes(const rules::RuleSet& set, const ProveOptions& options) {
  BoundedOptions bounded;
  bounded.most_tries = 500;
  bounded.of_many_axes = 200;
  bounded.exact_terms = 20'000;
  bounded.z3_terms = 0;  // the verdict is of interest, not that nothing differs
  bounded.seed = options.seed;
  bounded.stop = options.stop;
  return check_bounded(set, 0, bounded).check;
}

}  // namespace

void falsify(const rules::CompiledRule& rule, const ProveOptions& options, Proof& proof) {
  const ThreadStopwatch watch;
  const bool derived = proof.verdict == Proof::Verdict::proved;
  rules::RuleText text = rule.text;
  text.proof = derived ? "proved" : "unproved";
  text.scope = proof.scope;
  const auto set = rules::RuleSet::parse(rules::to_text(text), rule.text.file);
  CheckResult result = at_random_shapes(*set, options, derived);
  const int64_t places = result.instances;
  int64_t small = 0;
  if (!derived && result.verdict != CheckVerdict::different) {
    CheckResult other = at_small_shapes(*set, options);
    small = other.instances;
    if (other.verdict == CheckVerdict::different) result = std::move(other);
  }
  proof.check_ms = watch.us() / 1000;
  if (options.stop && options.stop()) {
    proof.stopped = true;
    proof.verdict = Proof::Verdict::unknown;
    proof.reason = "stopped";
  } else if (result.verdict == CheckVerdict::different) {
    proof.verdict = Proof::Verdict::refuted;
    proof.reason = result.counterexample->to_text();
  } else if (derived && (result.verdict == CheckVerdict::unknown || result.instances == 0)) {
    proof.verdict = Proof::Verdict::unknown;
    proof.reason = "derived, but the check at random shapes saw nothing: " + result.why;
  } else if (!derived && places + small > 0) {
    // No proof for all shapes.
    proof.reason += fmt::format(
        "; no difference at {} places of random shapes, {} of them equal as polynomials and {} by Z3 at their "
        "shapes{}, nor at {} of small ones",
        places, result.exact, result.by_z3, result.z3_gave_up ? " (Z3 gave up at another)" : "", small);
  }
}

}  // namespace rlgo::rulegen

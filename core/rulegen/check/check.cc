#include "core/rulegen/check/check.h"

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/graph/text.h"
#include "core/rulegen/check/compare.h"
#include "core/rules/instance.h"
#include "core/rules/ranges.h"

namespace rlgo::rulegen {
namespace {

// Adds one pair to the result. False where the verdict is settled.
bool compare(const graph::Graph& left, const graph::Graph& right, const CheckOptions& options, uint64_t seed,
             CheckResult& result) {
  const Comparison comparison(left, right);
  const std::string why = result.why;
  if (!comparison.in_field(options.seeds, seed, result)) return false;
  const bool rounded = result.why != why;  // nothing found, nothing reported
  const bool enough = result.exact + result.by_z3 + result.inexact >= options.exact_instances;
  ++result.instances;
  if (enough && !rounded) return true;
  const auto exact = comparison.exactly(options.exact_terms, seed);
  if (exact == true) {
    ++result.exact;
  } else if (result.inexact == 0 &&
             comparison.by_z3(options.z3_terms, seed, &result.z3_gave_up)) {  // a rule it does not see costs once
    ++result.by_z3;
  } else {
    ++result.inexact;
    return true;
  }
  result.why = why;  // settled
  return true;
}

CheckResult conclude(CheckResult result) {
  if (result.verdict == CheckVerdict::different || !result.why.empty()) return result;
  if (result.instances > 0) result.verdict = CheckVerdict::equal;
  return result;
}

// A rule is looked at in the same places whatever it is named: what was checked before it got its name stays checked.
uint64_t hash_without_name(rules::RuleText rule) {
  rule.name.clear();
  return hash_string(rules::body_text(rule));
}

}  // namespace

std::string Counterexample::to_text() const {
  return fmt::format("left: {}right: {}{}: left {:.6g}, right {:.6g}\n", graph::to_text(left), graph::to_text(right),
                     output, left_value, right_value);
}

CheckResult check_graphs(const graph::Graph& left, const graph::Graph& right, const CheckOptions& options) {
  CheckResult result;
  compare(left, right, options, options.seed, result);
  return conclude(std::move(result));
}

CheckResult check_rule(const rules::RuleSet& ranged, int rule, const CheckOptions& options) {
  const auto real = rules::over_reals(ranged);
  const rules::RuleSet& rules = *real;
  CheckResult result;
  Rng rng({options.seed, hash_without_name(rules.rule(rule).text)});
  for (int attempt = 0; attempt < options.attempts && result.instances < options.instances; ++attempt) {
    if (options.stop && options.stop()) break;
    const auto left = rules::random_instance(rules.rule(rule), rng);
    if (!left) continue;
    for (const auto& match : rules::find_matches(rules, rule, *left)) {
      const auto right = rules::apply(rules, match, *left);
      if (right && !compare(*left, right->graph, options, rng.next(), result)) return conclude(std::move(result));
    }
  }
  if (result.instances == 0 && result.why.empty()) {
    result.why = fmt::format("no instance on which the conditions hold in {} attempts", options.attempts);
  }
  return conclude(std::move(result));
}

}  // namespace rlgo::rulegen

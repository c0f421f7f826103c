// The contract of rewrite rules: wherever a rule is said to apply, applying it succeeds and the new graph computes the
// same.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/exec/equivalence.h"
#include "core/graph/text.h"
#include "core/rules/instance.h"
#include "core/rules/rules.h"

namespace rlgo::rules::contract {

struct Outcome {
  int instances = 0;       // rewrites made and compared
  int attempts = 0;        // random graphs tried
  double worst_error = 0;  // largest relative error
  std::string violation;   // "" where the contract holds
};

// Applies one match and compares. Empty where all is well.
inline std::string violation_of(const RuleSet& rules, const Match& match, const graph::Graph& graph, bool f64,
                                double tolerance, double* error) {
  const auto rewrite = apply(rules, match, graph);
  if (!rewrite) return "a reported match does not apply";
  try {
    rewrite->graph.validate();
    if (rewrite->graph.hash() == graph.hash()) return "the rewrite changes nothing";
    exec::EquivalenceOptions options;
    options.seeds = 2;
    options.f64 = f64;
    const auto same = exec::equivalence(graph, rewrite->graph, options);
    *error = std::max(*error, same.max_rel_error);
    if (!same.within(tolerance))
      return fmt::format("the new graph computes something else: relative error {} {}", same.max_rel_error,
                         same.reason);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

// Random instances of one rule, in double precision, until `wanted` rewrites were compared, one violates the contract,
// or `max_attempts` are used up.
inline Outcome check_rule(const RuleSet& rules, int rule, int wanted, int max_attempts, uint64_t seed = 1) {
  Outcome outcome;
  Rng rng({seed, static_cast<uint64_t>(rule)});
  while (outcome.instances < wanted && outcome.attempts < max_attempts) {
    ++outcome.attempts;
    const auto graph = random_instance(rules.rule(rule), rng);
    if (!graph) continue;
    for (const Match& match : find_matches(rules, rule, *graph)) {
      outcome.violation = violation_of(rules, match, *graph, true, 1e-6, &outcome.worst_error);
      if (!outcome.violation.empty()) {
        outcome.violation += "\n" + graph::to_text(*graph);
        return outcome;
      }
      ++outcome.instances;
    }
  }
  return outcome;
}

}  // namespace rlgo::rules::contract

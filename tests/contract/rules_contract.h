// The contract of rewrite rules: wherever a rule is stated to apply, applying it succeeds and the new graph computes
// the same.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/graph/text.h"
#include "core/rulegen/check/wild_instance.h"
#include "core/rules/instance.h"
#include "core/rules/rules.h"
#include "core/verify/equivalence.h"

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
    verify::EquivalenceOptions options;
    options.seeds = 2;
    options.f64 = f64;
    const auto same = verify::equivalence(graph, rewrite->graph, options);
    *error = std::max(*error, same.max_rel_error);
    if (!same.within(tolerance))
      return fmt::format("the new graph computes something else: relative error {} {}", same.max_rel_error,
                         same.reason);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

// Places to compare and graphs to draw for one rule.
struct Effort {
  int instances = 1;
  int attempts = 1;       // graphs of core/rules/instance.h
  int wild_attempts = 0;  // where those do not suffice: floating-point ones of core/rulegen/check/wild_instance.h
};

// Of another type, or with extents of zero, kernels do not count.
inline bool runs_in_double(const graph::Graph& graph) {
  for (const graph::NodeId id : graph.order()) {
    for (const auto& type : graph.node(id).info->outputs) {
      if (type.dtype != ops::DType::f32 && type.dtype != ops::DType::i64) return false;
      if (type.elements() == 0) return false;
    }
  }
  return true;
}

// Two weights of a random instance that hold the same numbers: a file's are one weight, here a rule may change one for
// the other, which no hash shows.
inline bool has_equal_weights(const graph::Graph& graph) {
  std::set<uint64_t> contents;
  return std::ranges::any_of(graph.order(), [&](graph::NodeId id) {
    const auto* blob = graph.node(id).info->blob.get();
    return blob != nullptr && !contents.insert(hash_combine(blob->content_hash(), blob->type().hash())).second;
  });
}

// Random instances of one rule, in double precision, until enough rewrites were compared, one violates the contract,
// or the attempts are used up.
inline Outcome check_rule(const RuleSet& rules, int rule, const Effort& effort, uint64_t seed = 1) {
  Outcome outcome;
  Rng rng({seed, static_cast<uint64_t>(rule)});
  while (outcome.instances < effort.instances && outcome.attempts < effort.attempts + effort.wild_attempts) {
    const bool wild = outcome.attempts++ >= effort.attempts;
    const auto graph = wild ? rulegen::wild_instance(rules.rule(rule), rng) : random_instance(rules.rule(rule), rng);
    if (!graph || has_equal_weights(*graph) || (wild && !runs_in_double(*graph))) continue;
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

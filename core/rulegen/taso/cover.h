// What is known about a rule of others, given rules that are proved.
#pragma once

#include <memory>
#include <string>

#include "core/rulegen/prove/axiom.h"
#include "core/rules/rules.h"

namespace rlgo::rulegen {

enum class Cover : uint8_t { contained, derived, further, proved, refuted, unknown };
constexpr int kCovers = 6;
const char* name(Cover cover);

struct CoverResult {
  Cover cover = Cover::unknown;
  std::string reason;  // refuted: the counterexample; unknown: why
};
struct CoverOptions {
  int check_instances = 60;   // places of application that are compared exactly
  int deep_instances = 2000;  // of rules that resisted
  int instances = 6;          // random places at which the known rules have to reach what the rule makes
  int max_graphs = 4000;      // of the first application, in each instance; four times as many of the second
  int applications = 4;       // of known rules in a row, 2 to 4
  uint64_t seed = 1;
};

// In this order: refuted where check_rule() finds a counterexample, which is searched longer where the prover finds no
// proof from the axioms; contained where in random instances one application of a known rule makes the same graph;
// derived where two do, further where three or four do; proved where there is a proof.
// The first three rest on the known rules' proofs and on the instances; `rule` holds one rule.
CoverResult cover(const rules::RuleSet& rule, const std::shared_ptr<const rules::RuleSet>& known,
                  const AxiomSet& axioms, const CoverOptions& options);

}  // namespace rlgo::rulegen

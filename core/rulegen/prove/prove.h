// Proves rules: a typed derivation from axioms over symbolic shapes, confirmed by Z3 (QF_UF) on the instances of axioms
// that it used, then checked exactly at random shapes. docs/rules.md says what a proof claims.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/rulegen/prove/axiom.h"
#include "core/rules/compiled.h"

namespace rlgo::rulegen {

// egraph: the derivation described above. z3: Z3's own search over quantified, shape-guarded axioms
// (sym_quantified.h), which needs no certificate. both: Z3 is asked in each case that comes before the e-graph gives
// up; the verdict is the e-graph's.
enum class Route : uint8_t { egraph, z3, both };

struct Proof {
  enum class Verdict : uint8_t { proved, refuted, unknown };
  Verdict verdict = Verdict::unknown;
  rules::ProofScope scope;          // proved: for what
  std::vector<std::string> axioms;  // proved: names, sorted
  std::string reason;               // refuted: counterexample; unknown: why, and in which case
  bool stopped = false;             // by ProveOptions::stop: nothing is known
  int64_t steps = 0;                // of the search (budget.h), all cases
  int cases = 0;                    // ranks, list lengths, axes, ... for which it was derived
  double derive_ms = 0;             // all cases; these are processor times of the calling thread
  double certify_ms = 0;            // Z3
  double check_ms = 0;              // exact check at random shapes
  bool z3_proved = false;           // routes z3 and both: Z3 proved every case
  double z3_ms = 0;                 // its time, formulas included
  std::string z3_reason;            // where it did not: why, and in which case
  // Where certify or check was left out: the verdict is unknown, but a derivation was found.
  bool derived() const { return cases > 0 && !axioms.empty(); }
};
std::string_view name(Proof::Verdict verdict);

struct ProveOptions {
  // Ranks of variables that the rule leaves open, and elements of ?xs..., parts of a split, go up to these; 0: as its
  // proof line says, where it has one, else as ProofScope's defaults.
  int max_rank = 0;
  int max_list = 0;
  // After a proof: whether it holds for longer lists and larger ranks as well (up to these), at most max_wide_cases of
  // them. Proof::scope is the widest that was proved.
  int widest_rank = 0;
  int widest_list = 0;
  int max_wide_cases = 16000;
  int max_cases = 20000;   // more: unknown
  int max_iterations = 8;  // of the e-graph, per case
  int max_terms = 6000;    // of the e-graph, per case
  // Steps of the search (budget.h) for a rule, and Z3's own resource units for each certificate; beyond: unknown.
  int64_t max_steps = 40'000'000;
  unsigned certify_effort = 3'000'000;
  Route route = Route::egraph;
  bool certify = true;  // Z3 on the instances; without it nothing is proved, only derived
  bool check = true;    // exact check at random shapes; without it nothing is proved, only derived
  int check_instances = 12;
  uint64_t seed = 1;           // of the random shapes
  std::function<bool()> stop;  // asked often; true: the rule is left as it is, Proof::stopped
};

// Proves the rule for what its text says, its proof line apart; the check at random shapes is of the rule with the
// scope that was proved. Thread safe; a Z3 context of its own. Axioms must not be rules derived from this one.
Proof prove(const rules::CompiledRule& rule, const AxiomSet& axioms, const ProveOptions& options = {});
// Compiles first; throws Error where that fails.
Proof prove(const rules::RuleText& rule, const AxiomSet& axioms, const ProveOptions& options = {});

}  // namespace rlgo::rulegen

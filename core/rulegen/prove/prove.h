// Proves rules: a typed derivation from axioms over symbolic shapes, confirmed by Z3 (QF_UF) on the instances of axioms
// that it used, then checked exactly at random shapes. docs/proofs.md states what a proof claims.
//
// The algorithm, for one rule:
//   1. Cases (sym_ranks.h, sym_plan.h). Ranks of the variables, lengths of lists, axes and fused activations are gone
//      through one by one. Within a case all that is left open are extents, strides, pads, groups and factors: symbols.
//   2. Assumptions (sym_assume.cc). The left side's shapes are inferred over these symbols (sym_infer.h). What is
//      asked for there, and the rule's conditions, become equations and bounds that hold from here on (shape.h).
//   3. Saturation (sym_saturate.h, egraph.h). Both sides go into an e-graph. Axioms are matched in it, from left to
//      right and back (sym_match.h); an instance joins two classes where its own conditions follow from the assumptions
//      and both terms have the same shape. Each join is recorded with the instance that made it. The case is derived
//      when both sides are in one class; it is unknown when nothing new is found or the budget is spent (budget.h).
//   4. Certificate (certify.h). The recorded instances, as ground equations over uninterpreted functions, and the
//      claim that the sides differ go to Z3, which must find a contradiction. Its core names the axioms of the proof:
//      a mistake of the e-graph cannot make a proof.
//   5. Check. The rule is applied at random places and both sides are evaluated exactly (core/rulegen/check).
//
// An example: relu(concat(relu a, relu b, axis k)) => concat(relu a, relu b, axis k).
//   1. Ten cases: a and b of rank 1 with k = 0, of rank 2 with k = 0 or 1, ... to rank 4. Take rank 2 and k = 0.
//   2. a is [p, n] and b is [q, m]; concat asks for n = m, so that both sides are [p + q, n].
//   3. relu-concat makes the left side concat(relu(relu a), relu(relu b)). clip-relu turns relu a into clip(a, 0, inf),
//      relu-of-clip makes relu(clip(a, 0, inf)) the same clip(a, max(0, 0), max(inf, 0)): relu(relu a) and relu a are
//      in one class, likewise for b, and so by congruence are both concats.
//   4. Z3's core holds instances of these three axioms: `rlgo rules verify` prints "proved for floats, ranks to 4:
//      clip-relu relu-concat relu-of-clip [10 cases, ...]".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/rulegen/prove/axiom.h"
#include "core/rules/compiled.h"

namespace rlgo::rulegen {

struct Proof {                                                // what is known of a rule
  enum class Verdict : uint8_t { proved, refuted, unknown };  // unknown: budget spent, or not expressible
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
  // Where certify or check was left out: the verdict is unknown, but a derivation was found.
  bool derived() const { return cases > 0 && !axioms.empty(); }
};
std::string_view name(Proof::Verdict verdict);

struct ProveOptions {
  // Ranks of variables that the rule leaves open, and elements of ?xs..., parts of a split, go up to these; 0: as its
  // proof line states, where it has one, else as ProofScope's defaults.
  int max_rank = 0;
  int max_list = 0;
  bool all_windows = false;  // convolutions and pools of one to three spatial axes, as where the proof line reports so
  // After a proof: whether it holds for longer lists and larger ranks as well (up to these), at most max_wide_cases of
  // them. Proof::scope is the widest that was proved.
  int widest_rank = 0;
  int widest_list = 0;
  bool widest_windows = false;  // and for one to three axes of windows
  int max_wide_cases = 16000;
  int max_cases = 20000;   // more: unknown
  int max_iterations = 8;  // of the e-graph, per case
  int max_terms = 6000;    // of the e-graph, per case
  // Steps of the search (budget.h) for a rule, and Z3's own resource units for each certificate; beyond: unknown.
  int64_t max_steps = 40'000'000;
  unsigned certify_effort = 3'000'000;
  bool certify = true;  // Z3 on the instances; without it nothing is proved, only derived
  bool check = true;    // exact check at random shapes; without it nothing is proved, only derived
  int check_instances = 12;
  uint64_t seed = 1;           // of the random shapes
  std::function<bool()> stop;  // asked often; true: the rule is left as it is, Proof::stopped
};

// Proves the rule for what its text states, its proof line apart; the check at random shapes is of the rule with the
// scope that was proved. Thread safe; a Z3 context of its own. Axioms must not be rules derived from this one.
Proof prove(const rules::CompiledRule& rule, const AxiomSet& axioms, const ProveOptions& options = {});
// Compiles first; throws Error where that fails.
Proof prove(const rules::RuleText& rule, const AxiomSet& axioms, const ProveOptions& options = {});

}  // namespace rlgo::rulegen

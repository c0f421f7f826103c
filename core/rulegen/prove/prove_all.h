// Proves the rules of files again: many at a time, with a summary, and the proofs written into the files.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/rulegen/prove/prove.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {

// Rules and what proving them gave.
struct Proofs {
  explicit Proofs(std::vector<rules::RuleText> all)
      : rules(std::move(all)), proofs(rules.size()), tried(rules.size()) {}
  std::vector<rules::RuleText> rules;
  std::vector<Proof> proofs;
  std::vector<char> tried;  // whether the proof counts: options.stop may have come first
};

// The rules of files: of each those in `only` (empty: all), of them `sample` evenly spread ones (0: all).
std::vector<rules::RuleText> rules_of_files(const std::vector<std::string>& files, const std::vector<std::string>& only,
                                            size_t sample);

// Proves them on `threads` threads; states a line about each as soon as it is known. options.stop ends it. False: it
// did, and some rule does not heed it: its thread still runs and reads `proofs`, so the process must end by _exit().
// Throws what a thread threw.
bool prove_all(Proofs& proofs, const AxiomSet& axioms, const ProveOptions& options, int threads,
               const std::function<void(const std::string&)>& print);

struct ProofTotals {
  int counts[3] = {};  // by verdict
  size_t tried = 0;
  double derive_ms = 0, certify_ms = 0, check_ms = 0, worst_ms = 0;
};
ProofTotals totals_of(const Proofs& proofs);
// For people. `rules`: how many there were, `seconds`: what it took.
std::string to_text(const ProofTotals& totals, size_t rules, double seconds);

// The `proof` clause of a rule, as lines of at most 120 characters. Only what was claimed proved is taken back.
std::string proof_clause(const rules::RuleText& rule, const Proof& proof);
// A rule file's text with these clauses (by rule's name); everything else stays as it is.
std::string with_proofs(const std::string& text, const std::map<std::string, std::string>& clauses);
// Writes the proofs of those that were tried into their file. Throws Error where it would not read back.
void write_proofs(const std::string& file, const Proofs& proofs);

}  // namespace rlgo::rulegen

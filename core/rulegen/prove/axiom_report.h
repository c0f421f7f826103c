// What is known about axioms: checked at every small instance, used in which proofs, distinguished from their mutants.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/rulegen/check/bounded.h"
#include "core/rulegen/prove/mutants.h"
#include "core/rules/rules.h"

namespace rlgo::rulegen {

using Print = std::function<void(const std::string&)>;  // a line for people

// Checks every axiom of `rules` within options.bounds; states one line each and a summary at the end. `expect_false`:
// each must be refuted (sets of false axioms). Whether all came out so. options.stop ends it early.
bool report_axioms(const rules::RuleSet& rules, const BoundedOptions& options, bool expect_false, const Print& print);

// In how many proofs of rule files each axiom of `axiom_files` stands, and which in none. False where a proof names
// what is no axiom.
bool report_uses(const std::vector<std::string>& axiom_files, const std::vector<std::string>& files,
                 const Print& print);

// Which mutants are judged: those of every `stride`-th axiom from `first` on (with one of these names; none: of all).
struct MutantsOfFiles {
  std::vector<std::string> files, names;
  int64_t stride = 1, first = 0;
};
// Reports each mutant that survives and is not listed as true next to its file (true_mutants.h). False where fewer than
// 99 % of those that are not true are refuted, or where the list calls one true that is refuted.
bool report_mutants(const MutantsOfFiles& which, const BoundedOptions& options, const Print& print);

}  // namespace rlgo::rulegen

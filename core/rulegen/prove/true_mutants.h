// Mutants of axioms that were read by hand and are true statements: what validation cannot refute, with the reason.
#pragma once

#include <string>
#include <vector>

#include "core/rulegen/prove/mutants.h"

namespace rlgo::rulegen {

struct TrueMutant {
  std::vector<std::string> axioms;  // names: the reason is the same for all of them
  int number = 0;                   // of the mutant, from 1 on, in the order of mutants_of
  std::string mistake, reason;
};

// The list that lies next to a file of axioms: axioms.mutants for axioms.rules, one line "AXIOM ... | NUMBER | MISTAKE
// | REASON" each; blank lines and lines that begin with # are ignored. Empty where there is no such file. Throws Error
// "FILE:LINE: ..." for a line of another form.
std::vector<TrueMutant> true_mutants_beside(const std::string& axioms_file);

// The lines about an axiom. Throws Error where one names a mutant that the axiom does not have: the axiom was changed
// since, and the reason may hold no more.
std::vector<TrueMutant> true_mutants_of(const std::vector<TrueMutant>& all, const std::string& axiom,
                                        const std::vector<Mutant>& mutants);

}  // namespace rlgo::rulegen

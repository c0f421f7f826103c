#include "core/rulegen/prove/mutants.h"

#include <gtest/gtest.h>

#include <map>

namespace rlgo::rulegen {
namespace {

// Steps of 2 and 3 along four elements take equally many of them: along fewer, exchanged steps change nothing.
TEST(Mutants, ExchangedStepsAndStartsOfSlicesAreRefuted) {
  const auto axioms = AxiomSet::load("configs/rules/axioms.rules");
  BoundedOptions options;
  options.bounds.dims = 2;
  options.most_tries = 500;
  options.least_instances = 60;
  options.reads = true;
  std::map<std::string, MutantFate> fates;
  for (const auto& axiom : axioms->axioms()) {
    if (axiom.name != "slice-two-axes" || axiom.reversed) continue;
    for (const auto& mutant : mutants_of(axiom.rule.text)) {
      if (mutant.mistake.find("exchanged") == std::string::npos) continue;
      fates[mutant.mistake] = judge_mutant(axiom.rule.text, mutant, *axioms, options).fate;
    }
  }
  EXPECT_EQ(fates["steps of slice: items 0 and 1 exchanged"], MutantFate::refuted);
  EXPECT_EQ(fates["starts of slice: items 0 and 1 exchanged"], MutantFate::refuted);
  // Where types are equal, the ends say no more than how many elements there are.
  EXPECT_EQ(fates["ends of slice: items 0 and 1 exchanged"], MutantFate::proved);
}

}  // namespace
}  // namespace rlgo::rulegen

#include "core/rulegen/prove/mutants.h"

#include <gtest/gtest.h>

namespace rlgo::rulegen {
namespace {

// Steps of 2 and 3 along four elements take equally many of them: along fewer, exchanged steps change nothing.
TEST(Mutants, ExchangedStepsAndBoundsOfSlicesAreRefuted) {
  const auto axioms = AxiomSet::load("configs/rules/axioms.rules");
  BoundedOptions options;
  options.bounds.dims = 2;
  options.most_tries = 500;
  options.least_instances = 60;
  options.reads = true;
  int exchanged = 0;
  for (const auto& axiom : axioms->axioms()) {
    if (axiom.name != "slice-two-axes" || axiom.reversed) continue;
    for (const auto& mutant : mutants_of(axiom.rule.text)) {
      if (mutant.mistake.find("exchanged") == std::string::npos) continue;
      const auto result = judge_mutant(axiom.rule.text, mutant, *axioms, options);
      EXPECT_EQ(result.fate, MutantFate::refuted) << mutant.mistake << ": " << name(result.fate);
      ++exchanged;
    }
  }
  EXPECT_GE(exchanged, 3);
}

}  // namespace
}  // namespace rlgo::rulegen

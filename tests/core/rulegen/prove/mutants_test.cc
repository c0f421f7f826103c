#include "core/rulegen/prove/mutants.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/rulegen/prove/true_mutants.h"

namespace rlgo::rulegen {
namespace {

// What validation states of the mutants of one axiom with these mistakes; all of them must be there.
std::multimap<std::string, MutantFate> fates_of(const std::string& name, const std::set<std::string>& mistakes) {
  const auto axioms = AxiomSet::load("configs/rules/axioms.rules");
  BoundedOptions options;
  options.bounds.dims = 2;
  options.most_tries = 500;
  options.least_instances = 60;
  options.reads = true;
  std::multimap<std::string, MutantFate> fates;
  for (const auto& axiom : axioms->axioms()) {
    if (axiom.name != name || axiom.reversed) continue;
    const AxiomUnderTest tested(axiom.rule.text, *axioms, options);
    for (const auto& mutant : mutants_of(axiom.rule.text)) {
      if (mistakes.contains(mutant.mistake)) fates.emplace(mutant.mistake, tested.judge(mutant).fate);
    }
  }
  for (const auto& mistake : mistakes) EXPECT_TRUE(fates.contains(mistake)) << name << ": " << mistake;
  return fates;
}

// Steps of 2 and 3 along four elements take equally many of them: along fewer, exchanged steps change nothing.
TEST(Mutants, ExchangedStepsAndStartsOfSlicesAreRefuted) {
  const auto fates =
      fates_of("slice-two-axes", {"steps of slice: items 0 and 1 exchanged", "starts of slice: items 0 and 1 exchanged",
                                  "ends of slice: items 0 and 1 exchanged"});
  EXPECT_EQ(fates.find("steps of slice: items 0 and 1 exchanged")->second, MutantFate::refuted);
  EXPECT_EQ(fates.find("starts of slice: items 0 and 1 exchanged")->second, MutantFate::refuted);
  // Where types are equal, the ends state no more than how many elements there are.
  EXPECT_EQ(fates.find("ends of slice: items 0 and 1 exchanged")->second, MutantFate::proved);
}

// Images of a few pixels have one window, or one tile of four results: what is wrong with the second shows in larger
// ones.
TEST(Mutants, WhatIsWrongFromTheSecondWindowOnIsRefuted) {
  for (const auto* name : {"conv-of-phases-of-rows", "conv-of-phases-of-columns"}) {
    for (const auto& [mistake, fate] :
         fates_of(name, {"strides: 3 in place of 2", "strides of conv2d: items 0 and 1 exchanged"}))
      EXPECT_EQ(fate, MutantFate::refuted) << name << ": " << mistake;
  }
}

// Two lists that are joined along axes that do not meet: few small instances have that.
TEST(Mutants, OperandsJoinedAlongDifferentAxesAreFound) {
  std::multiset<MutantFate> found;
  for (const auto& [mistake, fate] : fates_of("add-concat", {"condition: sign of a summand turned"}))
    found.insert(fate);
  EXPECT_EQ(found.count(MutantFate::refuted), 1u);  // the others follow from the axioms, or never apply
  EXPECT_EQ(found.count(MutantFate::survived), 0u);
}

// Over the reals the axiom does the same there, although numbers that are known at run time alone are multiplied.
TEST(Mutants, WhatTheAxiomDoesIsNoInstance) {
  for (const auto& [mistake, fate] : fates_of("batch-norm-scale-out", {"condition: 2 in place of 1"}))
    EXPECT_NE(fate, MutantFate::survived) << mistake;
}

// A runtime refuses an index that names no element: such a side has no value.
TEST(Mutants, AnIndexOutOfRangeIsRefuted) {
  const auto fates = fates_of("channel-shuffle", {"value: sign of 1 turned"});
  EXPECT_EQ(fates.begin()->second, MutantFate::refuted);
}

TEST(TrueMutants, ListsAreReadAndStaleLinesAreRefused) {
  const std::string axioms = testing::TempDir() + "true_mutants.rules",
                    list = testing::TempDir() + "true_mutants.mutants";
  const auto wrote = [&](const std::string& text) { std::ofstream(list) << text; };
  std::remove(list.c_str());
  EXPECT_TRUE(true_mutants_beside(axioms).empty());
  wrote("# a remark\n\nthis that | 2 | add in place of sub | a shift either way\n");
  const auto all = true_mutants_beside(axioms);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].reason, "a shift either way");
  const std::vector<Mutant> mutants{{"drops `when ?a`", {}}, {"add in place of sub", {}}};
  EXPECT_EQ(true_mutants_of(all, "that", mutants).size(), 1u);
  EXPECT_TRUE(true_mutants_of(all, "other", mutants).empty());
  EXPECT_THROW(true_mutants_of(all, "this", {mutants[1]}), Error);              // it has one mutant only
  EXPECT_THROW(true_mutants_of(all, "this", {mutants[1], mutants[0]}), Error);  // its second is another
  for (const auto* bad : {"this | 2 | no reason\n", "this | two | add | why\n", "this | 2 | add | \n"}) {
    wrote(bad);
    EXPECT_THROW(true_mutants_beside(axioms), Error) << bad;
  }
}

}  // namespace
}  // namespace rlgo::rulegen

#include "core/optimise/candidates.h"

#include <gmock/gmock.h>

#include <numeric>

namespace rlgo::optimise {
namespace {

using testing::ElementsAre;

// "no rewrites", one found by formula, two found by measured costs: as `rlgo optimise` makes them.
std::vector<size_t> ranked(size_t places) {
  std::vector<Candidate> candidates(4);
  for (size_t k = 1; k < candidates.size(); ++k) candidates[k].trace.resize(1);
  candidates[0].cost_us = 8142;
  candidates[1].cost_us = 7890;
  candidates[1].stages = {{"sweep", By::formula}};
  candidates[2].cost_us = 5923;
  candidates[2].stages = {{"sweep", By::formula}, {"sweep", By::timed}};
  candidates[3].cost_us = 5934;
  candidates[3].stages = {{"sweep", By::timed}};
  std::vector<size_t> runners(candidates.size());
  std::iota(runners.begin(), runners.end(), 0);
  rank_runners(candidates, places, runners);
  return runners;
}

TEST(RankRunners, TheCheapestFirstAndWhatIsAsItWasLast) { EXPECT_THAT(ranked(4), ElementsAre(2, 3, 1, 0)); }

TEST(RankRunners, WhatTheFormulaFoundHasOneOfTwoPlaces) { EXPECT_THAT(ranked(2), ElementsAre(2, 1, 3, 0)); }

// On a busy machine only one can run in time: costs decide, or nothing would be found where much is to be had.
TEST(RankRunners, ButNotTheOnlyOne) {
  EXPECT_THAT(ranked(1), ElementsAre(2, 3, 1, 0));
  EXPECT_THAT(ranked(0), ElementsAre(2, 3, 1, 0));
}

}  // namespace
}  // namespace rlgo::optimise

// Which graph is timed next, with synthetic times.
#include "core/optimise/acquisition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/base/rng.h"

namespace rlgo::optimise {
namespace {

// 200 graphs of 12 features. Times are what prices predict, but for two features that they get wrong; graph 137 is far
// faster than its sum. Ten others are as far from what is known, for nothing.
struct Planted {
  Acquisition acquisition;
  std::vector<double> ratios;

  explicit Planted(std::vector<cost::ResidualExample> known = {}) : acquisition(std::move(known)) {
    Rng rng({5});
    for (size_t k = 0; k < 200; ++k) {
      cost::Features x;
      for (int f = 0; f < 12; ++f) x["f" + std::to_string(f)] = 0.05 * rng.normal();
      if (k == 137) x["f3"] = 0.35;
      if (k % 20 == 3) x["f1"] = 0.45;
      const double sum = 0.8 + 0.03 * rng.normal();
      ratios.push_back(sum - 0.6 * x["f3"] + 0.5 * x["f7"]);
      acquisition.offer(sum, std::move(x));
    }
  }
  size_t best() const { return static_cast<size_t>(std::ranges::min_element(ratios) - ratios.begin()); }
  // How many graphs it timed until it timed the best; all it asked for where it stopped before.
  size_t needed(size_t most) {
    for (size_t count = 1; count <= most; ++count) {
      const auto next = acquisition.next();
      if (!next) break;
      acquisition.timed(*next, ratios[*next]);
      if (*next == best()) return count;
    }
    return most + 1;
  }
};

TEST(Acquisition, FindsThePlantedBestAmongTwoHundredInTwenty) {
  Planted planted;
  EXPECT_EQ(planted.best(), 137u);
  EXPECT_LE(planted.needed(20), 20u);
  EXPECT_EQ(planted.acquisition.best_at(), planted.acquisition.timed_count());
  EXPECT_EQ(planted.acquisition.by_time().front(), 137u);
}

// Once the best is known, nothing else among the two hundred promises to beat it.
TEST(Acquisition, StopsWhenNoBoundPromisesAGain) {
  Planted planted;
  while (const auto next = planted.acquisition.next()) planted.acquisition.timed(*next, planted.ratios[*next]);
  EXPECT_GE(planted.acquisition.timed_count(), Acquisition::kFewest);
  EXPECT_LT(planted.acquisition.timed_count(), 100u);
  EXPECT_EQ(planted.acquisition.by_time().front(), planted.best());
}

TEST(Acquisition, PredictsBetterThanSumsAfterForty) {
  Planted planted;
  for (size_t k = 0; k < 40; ++k) planted.acquisition.timed(k, planted.ratios[k]);
  EXPECT_LT(planted.acquisition.residual_error(), 0.5 * planted.acquisition.sum_error());
}

// One graph that is far faster than all others promise to be, timed first: what that is worth is not known from it.
TEST(Acquisition, BelievesNoBoundBeforeThreeGraphs) {
  Acquisition acquisition;
  for (int k = 0; k < 4; ++k) acquisition.offer(0.9, {{"f" + std::to_string(k), 0.1}});
  acquisition.timed(0, 0.5);
  ASSERT_NE(acquisition.next(), std::nullopt);
  acquisition.timed(1, 0.9);
  ASSERT_NE(acquisition.next(), std::nullopt);
  acquisition.timed(2, 0.9);
  EXPECT_EQ(acquisition.next(), std::nullopt);
}

// Equal graphs but for the noise of their times: the lowest of them is luck, and less so for what is predicted.
TEST(Acquisition, OneLuckyTimeIsNotBelieved) {
  Acquisition acquisition;
  for (size_t k = 0; k < 8; ++k) {
    acquisition.offer(0.9, {{"a", 0.2}});
    acquisition.timed(k, k == 3 ? 0.86 : 0.9);
  }
  EXPECT_EQ(acquisition.best_ratio(), 0.86);
  EXPECT_NEAR(acquisition.incumbent(), 0.895, 0.002);
}

// Nothing is known of "b", so its bound is far lower; the first time is of what prices predict is the fastest.
TEST(Acquisition, BeginsWithTheCheapestNotTheStrangest) {
  Acquisition acquisition;
  const size_t strange = acquisition.offer(0.9, {{"b", 5}}), cheap = acquisition.offer(0.8, {{"a", 0.1}});
  EXPECT_LT(acquisition.bound(strange), acquisition.bound(cheap));
  EXPECT_EQ(acquisition.next(), cheap);
  acquisition.timed(cheap, 0.8);
  EXPECT_EQ(acquisition.next(), strange);
}

// What took twice its price at first takes its price since.
TEST(Acquisition, IsFittedToTheLatest) {
  Acquisition acquisition({{{{"a", 0.4}}, 0.4}, {{{"a", 0.2}}, 0.2}}, 4);
  for (size_t k = 0; k < 6; ++k) acquisition.timed(acquisition.offer(0.9, {{"a", 0.1 + 0.05 * double(k)}}), 0.9);
  EXPECT_NEAR(acquisition.predicted(acquisition.offer(0.5, {{"a", 0.4}})), 0.5, 0.001);
  EXPECT_LT(acquisition.residual_error(), 0.001);
}

TEST(Acquisition, FirstIsTheOldestThatWaits) {
  Acquisition acquisition;
  EXPECT_EQ(acquisition.first(), std::nullopt);
  for (int k = 0; k < 3; ++k) acquisition.offer(1.2, {});
  acquisition.timed(0, 1.1);
  acquisition.failed(1);
  EXPECT_EQ(acquisition.first(), 2u);
}

TEST(Acquisition, TimesTheCheapestFirstWhereAllAreAlike) {
  Acquisition acquisition;
  acquisition.offer(0.9, {{"a", 0.1}});
  const size_t cheapest = acquisition.offer(0.8, {{"a", 0.1}});
  EXPECT_EQ(acquisition.next(), cheapest);
}

TEST(Acquisition, PromisesNothingWhereNothingIsUncertainAndDearer) {
  Acquisition acquisition;
  acquisition.offer(1.1, {});
  EXPECT_EQ(acquisition.next(), std::nullopt);
  EXPECT_EQ(acquisition.best_ratio(), 1);
  EXPECT_EQ(acquisition.best_at(), 0u);
}

TEST(Acquisition, WhatCannotBeTimedIsNotAskedForAgain) {
  Acquisition acquisition;
  acquisition.failed(acquisition.offer(0.5, {{"a", 0.1}}));
  EXPECT_EQ(acquisition.next(), std::nullopt);
  EXPECT_TRUE(acquisition.by_time().empty());
}

TEST(Acquisition, BoundsTightenWithTimes) {
  Acquisition acquisition;
  for (int k = 0; k < 6; ++k) acquisition.offer(0.9, {{"a", 0.1 + 0.01 * k}});
  const double before = acquisition.deviation(5);
  for (size_t k = 0; k < 4; ++k) acquisition.timed(k, 0.95);
  EXPECT_LT(acquisition.deviation(5), 0.3 * before);
  EXPECT_NEAR(acquisition.predicted(5), 0.95, 0.02);
}

// What another run timed: the same weights, other graphs.
TEST(Acquisition, StartsFromWhatIsKnown) {
  std::vector<cost::ResidualExample> known;
  Rng rng({1});
  for (int k = 0; k < 40; ++k) {
    cost::Features x = {{"f3", 0.1 * rng.normal()}, {"f7", 0.1 * rng.normal()}};
    const double value = -0.6 * x["f3"] + 0.5 * x["f7"];
    known.push_back({std::move(x), value});
  }
  Planted planted(known), without;
  EXPECT_NEAR(planted.acquisition.predicted(137), planted.ratios[137], 0.01);
  EXPECT_GT(without.acquisition.predicted(137), without.ratios[137] + 0.1);
  EXPECT_LE(planted.needed(200), without.needed(200));
}

TEST(Acquisition, ErrorsNeedThreeGraphs) {
  Acquisition acquisition;
  for (int k = 0; k < 3; ++k) acquisition.offer(0.9, {{"a", 0.1 * (k + 1)}});
  acquisition.timed(0, 0.8), acquisition.timed(1, 0.7);
  EXPECT_EQ(acquisition.sum_error(), 0);
  acquisition.timed(2, 0.6);
  EXPECT_NEAR(acquisition.sum_error(), 0.216, 0.001);  // root of (0.1^2 + 0.2^2 + 0.3^2) / 3
  EXPECT_GT(acquisition.residual_error(), 0);
}

}  // namespace
}  // namespace rlgo::optimise

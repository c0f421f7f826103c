// The test of "faster" on simulated machines. Seeds are fixed: no clock is asked.
#include "core/optimise/sequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "core/base/rng.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

// Log of the ratio in one process.
using Draw = std::function<double(Rng&)>;

// How much the logs of rounds within a process differ, and how many there are.
struct Rounds {
  double spread = 0.004;
  int count = 1;
  bool heavy = false;  // Student's t with two degrees of freedom
};

double round_of(const Rounds& rounds, Rng& rng) {
  const double number = rounds.spread * normal(rng);
  return rounds.heavy ? 0.7 * number / std::sqrt(-std::log(1 - rng.uniform())) : number;
}

// Shares of campaigns of `most` processes that end in "faster", when looked at after every one from `first` on.
double faster_fraction(const Draw& draw, int campaigns, int first = SequentialRatio::kLeast, const Rounds& rounds = {},
                       int most = 12) {
  int faster = 0;
  for (int c = 0; c < campaigns; ++c) {
    Rng rng({static_cast<uint64_t>(c), 17});
    SequentialRatio test;
    bool shown = false;
    for (int process = 1; process <= most && !shown; ++process) {
      const double drawn = draw(rng);
      std::vector<double> quotients;
      for (int k = 0; k < rounds.count; ++k) quotients.push_back(std::exp(drawn + round_of(rounds, rng)));
      test.add(quotients);
      shown = process >= first && test.faster();
    }
    faster += shown ? 1 : 0;
  }
  return static_cast<double>(faster) / campaigns;
}

Draw around(double ratio, double spread) {
  return [=](Rng& rng) { return std::log(ratio) + spread * normal(rng); };
}
// Student's t with three degrees of freedom: now and then a process is far off.
double heavy(Rng& rng) {
  const double a = normal(rng), b = normal(rng), c = normal(rng);
  return 0.05 * normal(rng) / std::sqrt((a * a + b * b + c * c) / 3);
}
// Eleven processes of a RepVGG-A0 export, and a file raced against its copy where both draw one of them.
double measured_once(Rng& rng) {
  const double ratios[] = {0.91, 1.00, 1.02, 1.03, 1.06, 1.07, 1.08, 1.08, 1.10, 1.24, 1.41};
  return std::log(ratios[rng.below(std::size(ratios))]);
}
double two_of_them(Rng& rng) { return measured_once(rng) - measured_once(rng); }
// Memory has two layouts, one of them slower by a fifth.
double two_layouts(Rng& rng) { return 0.2 * (static_cast<double>(rng.below(2)) - static_cast<double>(rng.below(2))); }

TEST(SequentialRatio, FalsePositivesOfTwoModelsThatAreOne) {
  constexpr int kCampaigns = 3000;
  for (const double spread : {0.003, 0.01, 0.05, 0.15, 0.3})
    EXPECT_LE(faster_fraction(around(1, spread), kCampaigns), 0.0125) << spread;
  EXPECT_LE(faster_fraction(heavy, kCampaigns), 0.01);
  EXPECT_LE(faster_fraction(two_of_them, kCampaigns), 0.01);
  EXPECT_LE(faster_fraction(measured_once, kCampaigns), 0.002);
  EXPECT_LE(faster_fraction(two_layouts, kCampaigns, SequentialRatio::kUsual), 0.01);
}

// Slow models have few rounds in a process, which differ much next to other work.
TEST(SequentialRatio, FalsePositivesWhereRoundsDiffer) {
  constexpr int kCampaigns = 3000;
  for (const int count : {2, 4, 8}) {
    for (const double spread : {0.0, 0.01, 0.05, 0.15}) {
      for (const bool heavy : {false, true})
        EXPECT_LE(faster_fraction(around(1, spread), kCampaigns, SequentialRatio::kLeast, {0.1, count, heavy}), 0.0125)
            << count << " " << spread << " " << heavy;
    }
  }
}

TEST(SequentialRatio, PowerWhereRoundsDiffer) {
  EXPECT_GE(faster_fraction(around(0.87, 0.01), 500, SequentialRatio::kLeast, {0.05, 2}, 5), 0.75);
  EXPECT_GE(faster_fraction(around(0.87, 0.01), 500, SequentialRatio::kLeast, {0.1, 4}, 8), 0.7);
  EXPECT_GE(faster_fraction(around(0.97, 0.003), 500, SequentialRatio::kLeast, {0.02, 8}, 8), 0.85);
}

// What rounds differ by widens the mean, not the next process; the same differences without that explanation do both.
TEST(SequentialRatio, NoiseOfRoundsIsNotThatOfTheNextProcess) {
  SequentialRatio rounds, processes;
  for (const double log : {-0.08, -0.16, -0.24, -0.16, -0.08, -0.24}) {
    rounds.add(std::vector<double>{std::exp(log - 0.1), std::exp(log + 0.1)});
    processes.add(std::vector<double>{std::exp(log), std::exp(log)});
  }
  EXPECT_DOUBLE_EQ(rounds.ratio(), processes.ratio());
  EXPECT_LT(rounds.upper(), 0.95 * processes.upper());
  EXPECT_TRUE(rounds.faster());
  EXPECT_FALSE(processes.faster());
}

TEST(SequentialRatio, Power) {
  EXPECT_GE(faster_fraction(around(0.80, 0.05), 500), 0.98);
  EXPECT_GE(faster_fraction(around(0.95, 0.01), 500), 0.98);
  EXPECT_GE(faster_fraction(around(0.98, 0.003), 500), 0.85);
  EXPECT_LE(faster_fraction(around(0.97, 0.15), 3000), 0.02);
}

TEST(SequentialRatio, IntervalIsThatOfAFurtherProcess) {
  SequentialRatio test;
  EXPECT_EQ(test.ratio(), 1);
  test.add(std::vector<double>{0.71});
  test.add(std::vector<double>{0.71});
  EXPECT_EQ(test.lower(), 0);
  EXPECT_EQ(test.upper(), std::numeric_limits<double>::infinity());
  test.add(std::vector<double>{0.71});
  EXPECT_NEAR(test.ratio(), 0.71, 1e-12);
  // Three processes that agree, and one of 1 % that is known before, a spread of 0.01 / sqrt(3): t 4.541 (3 degrees) of
  // that for the next process, 5.841 of that over sqrt(3) for the mean.
  const double spread = 0.01 / std::sqrt(3.0);
  EXPECT_NEAR(test.upper(), 0.71 * std::exp(std::hypot(4.541 * spread, 5.841 * spread / std::sqrt(3.0))), 2e-4);
  EXPECT_TRUE(test.faster());
}

TEST(SequentialRatio, AProcessIsTheMedianOfItsRounds) {
  SequentialRatio test;
  test.add(std::vector<double>{0.70, 0.71, 0.90});
  EXPECT_NEAR(test.ratio(), 0.71, 1e-12);
}

TEST(SequentialRatio, ReportsWhenFurtherProcessesCanShowNothing) {
  SequentialRatio equal, faster;
  EXPECT_TRUE(equal.may_be_shown(3));
  for (const double ratio : {1.004, 0.997, 1.001}) equal.add(std::vector<double>{ratio});
  EXPECT_FALSE(equal.may_be_shown(12));
  for (const double ratio : {0.83, 0.90, 0.95}) faster.add(std::vector<double>{ratio});
  EXPECT_FALSE(faster.faster());
  EXPECT_TRUE(faster.may_be_shown(12));
}

}  // namespace
}  // namespace rlgo::optimise

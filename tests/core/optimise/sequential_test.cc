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

// Shares of campaigns of twelve processes that end in "faster", when looked at after every one from `first` on.
double faster_share(const Draw& draw, int campaigns, int first = SequentialRatio::kLeast) {
  int faster = 0;
  for (int c = 0; c < campaigns; ++c) {
    Rng rng({static_cast<uint64_t>(c), 17});
    SequentialRatio test;
    bool shown = false;
    for (int process = 1; process <= 12 && !shown; ++process) {
      test.add(std::vector<double>{std::exp(draw(rng) + 0.004 * normal(rng))});
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
    EXPECT_LE(faster_share(around(1, spread), kCampaigns), 0.0125) << spread;
  EXPECT_LE(faster_share(heavy, kCampaigns), 0.01);
  EXPECT_LE(faster_share(two_of_them, kCampaigns), 0.01);
  EXPECT_LE(faster_share(measured_once, kCampaigns), 0.002);
  EXPECT_LE(faster_share(two_layouts, kCampaigns, SequentialRatio::kUsual), 0.01);
}

TEST(SequentialRatio, Power) {
  EXPECT_GE(faster_share(around(0.80, 0.05), 500), 0.98);
  EXPECT_GE(faster_share(around(0.95, 0.01), 500), 0.98);
  EXPECT_GE(faster_share(around(0.98, 0.003), 500), 0.85);
  EXPECT_LE(faster_share(around(0.97, 0.15), 3000), 0.02);
}

TEST(SequentialRatio, IntervalIsThatOfAFurtherProcess) {
  SequentialRatio test;
  EXPECT_EQ(test.ratio(), 1);
  test.add(std::vector<double>{0.70, 0.71, 0.90});
  test.add(std::vector<double>{0.71});
  EXPECT_EQ(test.lower(), 0);
  EXPECT_EQ(test.upper(), std::numeric_limits<double>::infinity());
  test.add(std::vector<double>{0.71});
  EXPECT_NEAR(test.ratio(), 0.71, 1e-12);
  // Three processes that agree, and one of 1 % that is known before: t 4.541 (3), spread 0.01 / sqrt(3), root of 4/3.
  EXPECT_NEAR(test.upper(), 0.71 * std::exp(4.541 * 0.01 / std::sqrt(3.0) * std::sqrt(4.0 / 3)), 2e-4);
  EXPECT_TRUE(test.faster());
}

TEST(SequentialRatio, SaysWhenFurtherProcessesCanShowNothing) {
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

// The test of "faster" on simulated machines. Seeds are fixed: no clock is asked.
#include "core/optimise/sequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/base/rng.h"

namespace rlgo::optimise {
namespace {

double normal(Rng& rng) {
  const double u = (static_cast<double>(rng.below(1u << 30)) + 0.5) / (1u << 30);
  const double v = (static_cast<double>(rng.below(1u << 30)) + 0.5) / (1u << 30);
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

// Log of the time of run number `run` on a machine that serves nothing else, without what the model takes.
using Machine = std::function<double(Rng& rng, int run)>;

struct Campaign {
  double ratio = 1;            // true
  double load_spread = 0.005;  // standard deviation of the log of what a load is slower or faster for good
  int loads = 24, rounds = 4;
};

// Shares of campaigns that ended in "faster", when looked at after every load.
double faster_share(const Campaign& campaign, const std::function<Machine()>& machine, int campaigns) {
  int faster = 0;
  for (int c = 0; c < campaigns; ++c) {
    Rng rng({static_cast<uint64_t>(c), 17});
    const Machine slow = machine();
    SequentialRatio test;
    int run = 0;
    for (int load = 0; load < campaign.loads && !test.faster(); ++load) {
      const double before = campaign.load_spread * normal(rng), after = campaign.load_spread * normal(rng);
      std::vector<double> quotients;
      for (int round = 0; round < campaign.rounds; ++round) {
        const bool first = rng.below(2) == 0;
        const double one = slow(rng, run++), two = slow(rng, run++);
        const double quotient = (first ? one : two) + after - (first ? two : one) - before;
        quotients.push_back(campaign.ratio * std::exp(quotient));
      }
      test.add_load(quotients);
    }
    faster += test.faster() ? 1 : 0;
  }
  return static_cast<double>(faster) / campaigns;
}

Machine quiet() {
  return [](Rng& rng, int) { return 0.02 * normal(rng); };
}
// One run in ten takes up to many times as long.
Machine heavy_tailed() {
  return [](Rng& rng, int) { return 0.02 * normal(rng) + (rng.below(10) == 0 ? std::abs(2 * normal(rng)) : 0); };
}
// Gets slower by half, and swings.
Machine drifting() {
  return [](Rng& rng, int run) { return 0.003 * run + 0.1 * std::sin(run / 7.0) + 0.02 * normal(rng); };
}
// What one run met, the next meets too.
Machine autocorrelated() {
  return [last = 0.0](Rng& rng, int) mutable { return last = 0.95 * last + 0.05 * normal(rng); };
}
// Another program takes the core for stretches of runs.
Machine beside_a_busy_core() {
  return [busy = false](Rng& rng, int) mutable {
    if (rng.below(6) == 0) busy = !busy;
    return (busy ? 0.69 : 0) + 0.03 * normal(rng);
  };
}

TEST(SequentialRatio, FalsePositivesOfTwoModelsThatAreOne) {
  constexpr int kCampaigns = 3000;
  EXPECT_LE(faster_share({}, quiet, kCampaigns), 0.01);
  EXPECT_LE(faster_share({}, heavy_tailed, kCampaigns), 0.01);
  EXPECT_LE(faster_share({}, drifting, kCampaigns), 0.01);
  EXPECT_LE(faster_share({}, autocorrelated, kCampaigns), 0.01);
  EXPECT_LE(faster_share({}, beside_a_busy_core, kCampaigns), 0.01);
}

TEST(SequentialRatio, FalsePositivesWhereLoadsDifferMuch) {
  EXPECT_LE(faster_share({.load_spread = 0.03}, quiet, 3000), 0.01);
  EXPECT_LE(faster_share({.load_spread = 0.03}, heavy_tailed, 3000), 0.01);
}

TEST(SequentialRatio, Power) {
  EXPECT_GE(faster_share({.ratio = 0.85, .loads = 6}, quiet, 500), 0.99);  // 24 rounds
  EXPECT_GE(faster_share({.ratio = 0.97}, quiet, 500), 0.95);
  EXPECT_GE(faster_share({.ratio = 0.85}, heavy_tailed, 500), 0.95);
  EXPECT_GE(faster_share({.ratio = 0.80}, beside_a_busy_core, 500), 0.5);
}

TEST(SequentialRatio, FewWinsProveNothing) {
  EXPECT_EQ(least_wins(10, 0.005), 11);  // even ten of ten do not
  EXPECT_EQ(least_wins(11, 0.005), 11);
  EXPECT_EQ(least_wins(15, 0.005), 14);
}

TEST(SequentialRatio, SaysWhenFewMoreRoundsCannotShowAnything) {
  SequentialRatio none, one_lost, equal;
  EXPECT_TRUE(none.may_be_shown(16));
  EXPECT_FALSE(none.may_be_shown(10));
  one_lost.add_load(std::vector<double>{0.5, 0.5, 1.0, 0.5});  // 15 of 16 are enough
  EXPECT_TRUE(one_lost.may_be_shown(16));
  EXPECT_FALSE(one_lost.may_be_shown(12));
  equal.add_load(std::vector<double>{0.98, 1.0, 1.01, 1.0});  // within what loads may differ by
  EXPECT_FALSE(equal.may_be_shown(16));
  EXPECT_TRUE(equal.may_be_shown(64));
  SequentialRatio slower;
  slower.add_load(std::vector<double>{1.5, 1.5, 1.5, 1.5});
  EXPECT_TRUE(slower.may_be_shown(16));
}

TEST(SequentialRatio, IntervalHoldsTheRatio) {
  SequentialRatio test;
  EXPECT_EQ(test.ratio(), 1);
  const std::vector<double> four{0.70, 0.71, 0.72, 0.73};
  for (int load = 0; load < 3; ++load) test.add_load(four);
  EXPECT_NEAR(test.ratio(), 0.715, 1e-3);
  EXPECT_TRUE(test.faster());
  EXPECT_NEAR(test.upper(), 0.73 / 0.95, 1e-9);
  EXPECT_NEAR(test.lower(), 0.70 * 0.95, 1e-9);
}

}  // namespace
}  // namespace rlgo::optimise

// How many rounds a measurement takes, on a machine whose quotients are written down.
#include "core/optimise/benchmark.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

// The second model takes `quotient` of the first one's time, but in a round of each of the first `lost` loads,
// which another process disturbs.
class Steady : public FakeRuntime {
 public:
  explicit Steady(double quotient, int lost = 0) : FakeRuntime("steady"), quotient_(quotient), lost_(lost) {}
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions& options) override {
    cost::Comparison out;
    out.models.resize(models.size());
    out.models[0].median_us = 100;
    const auto rounds = static_cast<size_t>(options.repeats);
    out.quotients = {std::vector<double>(rounds, 1), std::vector<double>(rounds, quotient_)};
    if (lost_-- > 0) out.quotients[1][0] = 3;
    return out;
  }

 private:
  double quotient_;
  int lost_;
};

Latency measured(double quotient, double seconds, int lost = 0) {
  Steady runtime(quotient, lost);
  return Benchmark(runtime, {}).measure({}, 100, seconds);
}

constexpr double kNoTime = 0, kEndless = std::numeric_limits<double>::infinity();

TEST(Benchmark, WithoutTimeRunsNoMoreThanShowsSomething) {
  const Latency equal = measured(1, kNoTime), faster = measured(0.5, kNoTime), slower = measured(2, kNoTime);
  EXPECT_EQ(equal.rounds, 4);  // 12 more could not show a difference
  EXPECT_FALSE(equal.faster || equal.slower);
  EXPECT_EQ(faster.rounds, 12);
  EXPECT_TRUE(faster.faster);
  EXPECT_EQ(slower.rounds, 12);
  EXPECT_TRUE(slower.slower);
}

TEST(Benchmark, WithoutTimeStillShowsAGainOfManyPercentOnABusyMachine) {
  const Latency much = measured(0.6, kNoTime, 4), little = measured(0.92, kNoTime, 4);
  EXPECT_TRUE(much.faster);
  EXPECT_GT(much.rounds, Benchmark::kLeastRounds);
  EXPECT_FALSE(little.faster);
  EXPECT_LE(little.rounds, Benchmark::kLeastRounds);
}

TEST(Benchmark, WithTimeRunsUntilADifferenceIsShown) {
  EXPECT_EQ(measured(1, kEndless).rounds, 100);
  EXPECT_EQ(measured(0.5, kEndless).rounds, Benchmark::kLeastRounds);
  EXPECT_TRUE(measured(0.97, kEndless).faster);
}

}  // namespace
}  // namespace rlgo::optimise

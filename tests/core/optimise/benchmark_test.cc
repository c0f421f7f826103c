// How many processes a measurement takes and what it shows, on machines whose quotients are drawn. Seeds are fixed.
#include "core/optimise/benchmark.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/base/error.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

using testing::HasSubstr;

constexpr double kNoTime = 0, kEndless = std::numeric_limits<double>::infinity();

Latency measured(double ratio, double spread, double seconds, uint64_t seed = 1) {
  DrawnRuntime runtime(ratio, spread, seed);
  return Benchmark(runtime, {}).measure({}, 96, seconds);
}

int called_faster(double ratio, double spread, double seconds, int runs) {
  int count = 0;
  for (int run = 0; run < runs; ++run) count += measured(ratio, spread, seconds, static_cast<uint64_t>(run)).faster;
  return count;
}

TEST(Benchmark, AModelAgainstItselfIsCalledFasterInAtMostOneOfAHundredRuns) {
  for (const double spread : {0.003, 0.05, 0.15, 0.3}) EXPECT_LE(called_faster(1, spread, kEndless, 500), 5) << spread;
  EXPECT_LE(called_faster(1, 0.15, kNoTime, 500), 5);
}

TEST(Benchmark, AGainOfAFifthIsFoundInAFewProcesses) {
  EXPECT_GE(called_faster(0.8, 0.05, kNoTime, 100), 85);
  EXPECT_GE(called_faster(0.8, 0.05, kEndless, 100), 99);
  const Latency found = measured(0.8, 0.05, kEndless, 3);
  EXPECT_TRUE(found.faster);
  EXPECT_GE(found.processes, 3);
  EXPECT_LE(found.processes, 5);
  EXPECT_THAT(effort_text(found), HasSubstr("fresh processes; the interval is that of a further process"));
}

TEST(Benchmark, EachModelIsTheFirstOneOfEverySecondProcess) {
  const Latency found = measured(0.8, 0.05, kEndless, 3);
  EXPECT_DOUBLE_EQ(found.loading[0].seconds, 0.001);
  EXPECT_DOUBLE_EQ(found.loading[1].seconds, 0.002);
  EXPECT_EQ(found.loading[1].bytes, 1 << 20);
}

TEST(Benchmark, AGainThatTheNextProcessMayNotHaveIsNotClaimed) {
  EXPECT_LE(called_faster(0.97, 0.15, kEndless, 300), 3);
  EXPECT_FALSE(measured(0.97, 0.15, kEndless).faster);
  EXPECT_GE(called_faster(0.97, 0.003, kEndless, 100), 90);  // as small, but in every process
}

TEST(Benchmark, WithoutTimeRunsThreeProcessesAndMoreOnlyForAGainThatTheyMayShow) {
  const Latency equal = measured(1, 0, kNoTime), much = measured(0.9, 0.04, kNoTime, 7);
  EXPECT_EQ(equal.processes, 3);
  EXPECT_EQ(equal.rounds, 24);
  EXPECT_FALSE(equal.faster || equal.slower);
  EXPECT_TRUE(measured(2, 0, kNoTime).slower);
  EXPECT_TRUE(much.faster);
  EXPECT_GT(much.processes, 5);
  EXPECT_GE(called_faster(0.9, 0.03, kNoTime, 100), 90);
  int asked = 0;
  DrawnRuntime runtime(0.9, 0.04, 7);
  const Latency stopped = Benchmark(runtime, {}).measure({}, 96, kNoTime, [&] { return ++asked > 4; });
  EXPECT_EQ(stopped.processes, 5);
  EXPECT_FALSE(stopped.faster);
}

TEST(Benchmark, EndsWhereFurtherProcessesWouldShowNothing) {
  EXPECT_LE(measured(1, 0.01, kEndless).processes, 6);
  EXPECT_EQ(measured(0.5, 0.01, kEndless).processes, 4);
}

// LibTorch runs in rlgo's own process: loads take the part of processes, and that is reported.
TEST(Benchmark, ARuntimeWithoutProcessesIsMeasuredLoadByLoad) {
  class Within : public DrawnRuntime {
    using DrawnRuntime::DrawnRuntime;
    bool restart() override { return false; }
  } runtime(0.8, 0.05, 1);
  const Latency found = Benchmark(runtime, {}).measure({}, 96, kEndless);
  EXPECT_TRUE(found.faster);
  EXPECT_EQ(found.processes, 0);
  EXPECT_EQ(found.loads, 5);
  EXPECT_EQ(effort_text(found),
            "20 rounds in 5 loads in this process; the interval is that of a further load in it, with an error of 1 % "
            "at each end");
}

TEST(Benchmark, ARuntimeThatDoesNotStartAgainIsNoMeasurement) {
  class Once : public FakeRuntime {
    using FakeRuntime::FakeRuntime;
    bool restart() override { fail("no licence left"); }
  } runtime("once 1.0");
  const Latency found = Benchmark(runtime, {}).measure({}, 96, kEndless);
  EXPECT_EQ(found.error, "once 1.0 does not start again: no licence left");
  EXPECT_FALSE(found.faster || found.slower);
}

}  // namespace
}  // namespace rlgo::optimise

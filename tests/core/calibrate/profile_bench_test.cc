#include "core/calibrate/profile_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/cost/profile.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::calibrate {
namespace {

using cost::AnalyticOptions;
using testing::HasSubstr;

bool never() { return false; }

AnalyticOptions other_machine() {
  AnalyticOptions truth;
  truth.peak_gflops = 50;
  truth.launch_us = 5;
  truth.conv_depthwise = 0.3;
  truth.softmax = 0.02;
  return truth;
}

TEST(OperatorSamples, HaveEveryKindFromZooAndDraws) {
  std::vector<std::string> names;
  for (const auto& kind : operator_samples(6, 0)) {
    names.push_back(kind.name);
    EXPECT_GE(kind.samples.size(), 5) << kind.name;
    EXPECT_EQ(operator_kind(kind.samples[0].graph, kind.samples[0].id), kind.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("concat", "conv_1x1", "conv_3x3", "conv_depthwise", "conv_grouped",
                                          "conv_other", "conv_transpose", "elementwise", "gather", "layer_norm",
                                          "matmul", "pad", "pool", "reduce", "slice", "softmax", "split", "transpose"));
}

TEST(OperatorSamples, FollowTheSeed) {
  const auto text = [](uint64_t seed) {
    const auto kinds = operator_samples(2, seed);
    return cost::signature(kinds[1].samples[0].graph, kinds[1].samples[0].id);
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(ProfileBench, FindsTheMachineThatMadeTheTimes) {
  optimise::FormulaRuntime runtime(other_machine());
  const TemporaryFolder folder("rlgo-test");
  ProfileBenchOptions options;
  options.drawn = 12;
  options.out = (folder.path() / "p.cost").string();
  std::string printed;
  const auto found = bench_profile(options, runtime, never, [&](const std::string& text) { printed += text; });
  const auto all = found.at("kinds").at(0);
  EXPECT_EQ(all.at("kind"), "all");
  EXPECT_GT(all.at("before").at("factor"), 1.3);
  EXPECT_LT(all.at("after").at("factor"), 1.01);
  EXPECT_GT(all.at("after").at("rank_correlation"), 0.999);
  const auto written = cost::named_profile(options.out);
  EXPECT_NEAR(written.launch_us, 5, 0.05);
  EXPECT_NEAR(written.softmax / written.conv_depthwise, 0.02 / 0.3, 0.003);
  EXPECT_THAT(read_file(options.out), HasSubstr("formula 1.0 on paper, 1 thread"));
  EXPECT_THAT(printed, HasSubstr("written: "));
}

TEST(ProfileBench, HoldsBackEveryFourthOfAKind) {
  optimise::FormulaRuntime runtime((AnalyticOptions()));
  const auto kinds = operator_samples(8, 0);
  const auto timed = time_operators(kinds, runtime, 1e9, never);
  size_t of_kind = 0, held_out = 0;
  for (const auto& one : timed) {
    of_kind += one.kind == "split";
    held_out += one.kind == "split" && one.held_out;
  }
  EXPECT_EQ(held_out, of_kind / 4);
  EXPECT_DOUBLE_EQ(score(timed, "split", AnalyticOptions()).factor, 1);
}

TEST(ProfileBench, ReportsThatTooFewWereTimed) {
  optimise::FormulaRuntime runtime((AnalyticOptions()));
  ProfileBenchOptions none;
  none.seconds = 0;
  try {
    bench_profile(none, runtime, never, [](const std::string&) {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("give more --seconds"));
  }
}

}  // namespace
}  // namespace rlgo::calibrate

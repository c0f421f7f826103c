#include "core/optimise/last_stages.h"

#include <gmock/gmock.h>

#include "core/graph/text.h"
#include "core/rules/rule_choice.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

using testing::HasSubstr;

graph::Graph one_relu() {
  return graph::from_text("graph \"g\"\n%0 = input \"x\" : f32[4]\n%1 = relu(%0)\noutput \"y\" = %1\n");
}

// The unmodified model and one that was chosen, checked, written to a file and timed.
Result chosen(double ratio, bool faster, bool slower) {
  Result result;
  result.target = "fake";
  result.before = one_relu();
  result.rules = rules::choose_rules({"base"});
  result.candidates = {{.name = "no rewrites", .graph = result.before},
                       {.name = "sweep", .graph = result.before, .file = "sweep.onnx"}};
  result.chosen = 1;
  result.checked = true;
  result.end_to_end.before_us = 100;
  result.end_to_end.ratio = ratio;
  result.end_to_end.lower = ratio - 0.01;
  result.end_to_end.upper = ratio + 0.01;
  result.end_to_end.error = "";
  result.end_to_end.faster = faster;
  result.end_to_end.slower = slower;
  return result;
}

OptimiseOptions options_to(const std::string& out) {
  OptimiseOptions options;
  options.out = out;
  return options;
}

TEST(Conclude, WhatIsShownToBeFasterIsWritten) {
  const Verdict verdict = conclude(options_to("out.onnx"), chosen(0.8, true, false));
  EXPECT_TRUE(verdict.improved && verdict.written && verdict.touched);
  EXPECT_EQ(verdict.text, "improved: -20.00 % of the latency under fake");
}

TEST(Conclude, NothingIsWrittenWithoutAFileToWrite) {
  EXPECT_FALSE(conclude(options_to(""), chosen(0.8, true, false)).written);
}

TEST(Conclude, WhatIsSlowerOrNotShownToBeFasterIsNotWritten) {
  const Verdict slower = conclude(options_to("out.onnx"), chosen(1.2, false, true));
  const Verdict unclear = conclude(options_to("out.onnx"), chosen(0.99, false, false));
  EXPECT_EQ(slower.text, "nothing found: the best rewritten model is slower (+20.00 %)");
  EXPECT_EQ(unclear.text, "nothing found: -1.00 % is not shown to be faster (0.980 to 1.000 of the latency)");
  EXPECT_FALSE(slower.written || slower.improved || unclear.written || unclear.improved);
}

TEST(Conclude, ForceWritesWhatIsSlowerButNothingThatACheckRefuses) {
  OptimiseOptions options = options_to("out.onnx");
  options.force = true;
  Result result = chosen(1.2, false, true);
  EXPECT_TRUE(conclude(options, result).written);
  Check differs;
  differs.by = "rlgo";
  differs.finding = Finding::differs;
  result.checks = {differs};
  const Verdict verdict = conclude(options, result);
  EXPECT_TRUE(verdict.refused && verdict.forced);
  EXPECT_FALSE(verdict.written);
  EXPECT_THAT(verdict.text, HasSubstr("not written: the model as rlgo writes it differs (rlgo: "));
}

TEST(Conclude, WithoutACheckedCandidateNothingIsFound) {
  Result result = chosen(0.8, true, false);
  result.checked = false;
  EXPECT_EQ(conclude(options_to("out.onnx"), result).text, "nothing found: no rewritten model passed the checks");
  result.candidates[1].error = "not checked in time: x";
  EXPECT_EQ(conclude(options_to("out.onnx"), result).text,
            "nothing found: there was no time to check a rewritten model; give more --seconds");
}

// A runtime with two switches and a profile, at 1 ms a run.
class Switches : public FakeRuntime {
 public:
  Switches() : FakeRuntime("switches") {}
  std::vector<cost::SwitchTiming> switches(std::span<const cost::RunnableModel> models, double) override {
    return {{.level = "basic", .us = std::vector<double>(models.size(), 1000), .error = {}}};
  }
};

struct Parts {
  StatusLine line{false, false};
  std::function<bool()> interrupted = [] { return false; };
  OptimiseClock clock{line, 60, interrupted};
  TimingEstimate timing;
  Switches runtime;
};

TEST(MeasureSwitches, OfTheGivenModelAndTheChosenOneWhereThatWasTimed) {
  Parts s;
  const auto models = [&](const Result& result, const OptimiseOptions& options) {
    const auto timed = measure_switches(options, s.runtime, s.timing, s.clock, result);
    return timed.empty() ? 0 : timed[0].us.size();
  };
  Result result = chosen(0.8, true, false);
  OptimiseOptions options;
  EXPECT_EQ(models(result, options), 2u);
  result.end_to_end.error = "not measured";
  EXPECT_EQ(models(result, options), 1u);
  options.switches = false;
  EXPECT_EQ(models(result, options), 0u);
}

TEST(MeasureKept, AModelOfKnownOperatorsKeepsNone) {
  Parts s;
  EXPECT_TRUE(measure_kept({}, s.runtime, s.timing, s.clock, chosen(1, false, false)).kinds.empty());
}

TEST(ReportCosts, HasCostsOfBothGraphsAndOfEachRewrite) {
  Parts s;
  cost::AnalyticCost prices;
  const ReportCosts costs = report_costs(prices, s.clock, chosen(1, false, false));
  EXPECT_TRUE(costs.step_us.empty());
  ASSERT_EQ(costs.before_op_us.size(), 2u);
  EXPECT_EQ(costs.before_op_us, costs.after_op_us);
  EXPECT_GT(costs.before_op_us[1], 0);
}

TEST(MeasureEndToEnd, NotWithoutAFileAChangeOrACheck) {
  Parts s;
  DrawnRuntime runtime(0.8, 0, 1);
  Benchmark benchmark(runtime, {});
  Result result = chosen(1, false, false);
  const auto ratio = [&] { return measure_end_to_end({}, runtime, benchmark, s.clock, result).ratio; };
  EXPECT_NEAR(ratio(), 0.8, 0.02);
  result.touched = false;
  EXPECT_EQ(ratio(), 1);
  result.touched = true;
  result.checked = false;
  EXPECT_EQ(ratio(), 1);
}

}  // namespace
}  // namespace rlgo::optimise

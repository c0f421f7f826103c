// Which candidate is checked next, and which one is delivered in how much time. No clock is asked: what a check takes
// is counted in operations, or a clock moves by a second each time that it is looked at.
#include "core/optimise/acceptance.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/base/temporary_folder.h"
#include "core/cost/analytic.h"
#include "core/graph/editor.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

constexpr double kAnyEffort = std::numeric_limits<double>::infinity();

// So many sums of 1,000 elements each, and so many bytes of weights.
graph::Graph sums(int count, int64_t bytes = 4) {
  graph::Editor e("g");
  graph::Value x = e.add_input("x", {ops::DType::f32, {1000}});
  for (int k = 0; k < count; ++k) x = e.op(ops::Op::add, {x, x});
  const ops::TensorType type(ops::DType::f32, {bytes / 4, 1});
  const graph::Value weight = e.add_weight("w", graph::Blob::absent(type, 1));
  e.add_output("y", e.op(ops::Op::add, {x, weight}));
  return *e.finish();
}

Candidate candidate(const char* name, graph::Graph graph, double cost_us, double ratio = 0) {
  return {.name = name, .graph = std::move(graph), .cost_us = cost_us, .file = "there.onnx", .ratio = ratio};
}

std::vector<Candidate> candidates() {
  return {candidate("no rewrites", sums(1000), 1000), candidate("heavy", sums(900), 500),
          candidate("as heavy", sums(890), 510), candidate("cheap", sums(100), 900),
          candidate("dear", sums(100), 1100)};
}

TEST(NextBest, OfAllTheFastestThatNoCheckRefuses) {
  auto some = candidates();
  EXPECT_EQ(next_best(some, kAnyEffort), 1u);
  some[1].error = "given up";
  EXPECT_EQ(next_best(some, kAnyEffort), 2u);
  some[3].ratio = 0.9;
  EXPECT_EQ(next_best(some, kAnyEffort), 3u);
  some[3].file.clear();
  some[2].error = "given up";
  EXPECT_EQ(next_best(some, kAnyEffort), 0u);  // the last one costs more than the model
}

// What took too long is followed by what is cheaper to check, not by one that takes as long, nor by nothing.
TEST(NextBest, WhereTimeIsShortACheaperOne) {
  auto some = candidates();
  const double effort = effort_of(some[1]);
  some[1].error = "not checked in time";
  EXPECT_EQ(next_best(some, 0.8 * effort), 3u);
  EXPECT_EQ(next_best(some, 0.8 * effort_of(some[3])), 0u);
}

TEST(NextBest, WeightsAreAnEffortToo) {
  EXPECT_GT(effort_of(candidate("large", sums(10, 1 << 20), 1)), effort_of(candidate("deep", sums(100), 1)));
}

// Answers 1 for each file, and 2 for files whose name says "other".
class AnsweringRuntime : public FakeRuntime {
 public:
  AnsweringRuntime() : FakeRuntime("paper 1.0") {}
  bool answers_outputs() const override { return true; }
  std::vector<cost::Outputs> outputs(std::span<const cost::RunnableModel> models, int) override {
    std::vector<cost::Outputs> out;
    for (const auto& model : models) {
      const bool other = model.file.string().find("other") != std::string::npos;
      out.push_back({{{"y", "float32", {1}, {other ? 2.0 : 1.0}}}, ""});
    }
    return out;
  }
};

// 100 pairs of negations, 200 relus. One rewritten pair of relus gains the most, it is said, all negations less.
graph::Graph pairs() {
  graph::Editor e("pairs");
  graph::Value x = e.add_input("x", {ops::DType::f32, {1}});
  for (int k = 0; k < 200; ++k) x = e.op(ops::Op::neg, {x});
  for (int k = 0; k < 200; ++k) x = e.op(ops::Op::relu, {x});
  e.add_output("y", x);
  return *e.finish();
}

// What Acceptance::choose() makes of "no rewrites", "best" and "quick" in a command of `seconds` whose checks end after
// `end_s`; the clock moves by one each time that it is looked at.
struct Chosen {
  Result result;
  const Candidate& best() const { return result.best(); }
  const Check& exact() const { return result.checks.at(0); }
};
Chosen choose(double seconds, double end_s, const char* best_file = "best.onnx", bool force = false) {
  const TemporaryFolder folder("rlgo-test");
  OptimiseOptions options;
  options.model.graph = (folder.path() / "model.onnx").string();
  options.out = (folder.path() / "out.onnx").string();
  options.seconds = seconds;
  options.force = force;
  LoadedModel model;
  model.source.graph = options.model.graph;
  model.graph = pairs();
  export_model(model, model.graph, options.model.graph);
  Result result;
  result.rules = rules::RuleSet::parse(
      "rule twice\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\nrule minus\n  ?y = (neg (neg ?x))\n  => ?y = ?x\n",
      "test.rules");
  result.before = model.graph;
  const auto add = [&](const char* name, const char* file, rules::Trace trace, double cost_us) {
    Candidate made = candidate(name, rules::replay(model.graph, result.rules, trace), cost_us);
    made.file = folder.path() / file;
    made.trace = std::move(trace);
    export_model(model, made.graph, made.file);
    result.candidates.push_back(std::move(made));
  };
  add("no rewrites", "same.onnx", {}, 1000);
  add("best", best_file, {{0, 0}}, 500);
  add("quick", "quick.onnx", rules::Trace(100, {1, 0}), 900);
  result.chosen = 1;
  AnsweringRuntime runtime;
  cost::AnalyticCost cost;
  const Benchmark benchmark(runtime, {&model.graph, options.model.graph});
  StatusLine line([](const std::string&) {});
  const std::function<bool()> never = [] { return false; };
  double now_s = 0;
  OptimiseClock clock(line, seconds, never, [&] { return now_s++; });
  clock.end_by(end_s, 1);
  Acceptance(options, model, runtime, cost, folder.path(), clock, Log(), result, benchmark).choose();
  return {std::move(result)};
}

TEST(Choose, WithTimeEnoughTheBestAfterAllChecks) {
  const Chosen chosen = choose(1e6, 1e7);
  EXPECT_EQ(chosen.best().name, "best");
  EXPECT_TRUE(chosen.result.checked && chosen.result.touched);
  EXPECT_EQ(chosen.exact().by, "rlgo in double precision, 4 inputs");
  EXPECT_EQ(chosen.exact().finding, Finding::same);
}

// The seconds of the command are over, those until it must end are not.
TEST(Choose, InShortTimeTheBestAfterTheLeastChecks) {
  const Chosen chosen = choose(0, 1e7);
  EXPECT_EQ(chosen.best().name, "best");
  EXPECT_TRUE(chosen.result.checked);
  EXPECT_EQ(chosen.exact().by, "rlgo in double precision, 1 input");
  EXPECT_TRUE(chosen.exact().limits.ends_with("3 of 4 inputs are skipped for lack of time")) << chosen.exact().limits;
  EXPECT_EQ(least_skipped(chosen.result.checks), nullptr);
}

TEST(Choose, WithoutTimeNothing) {
  for (const bool force : {false, true}) {
    const Chosen chosen = choose(1, 0, "best.onnx", force);
    EXPECT_EQ(chosen.best().name, "no rewrites");
    EXPECT_FALSE(chosen.result.checked || chosen.result.touched);
    EXPECT_TRUE(chosen.result.candidates[1].error.starts_with(kNotChecked)) << chosen.result.candidates[1].error;
    EXPECT_EQ(chosen.result.candidates[2].error, "");  // no time was spent on it
  }
}

// The runtime's outputs of the best one differ: the next best passes all checks.
TEST(Choose, TheNextBestWhereACheckRefuses) {
  const Chosen chosen = choose(1e6, 1e7, "other.onnx");
  EXPECT_EQ(chosen.best().name, "quick");
  EXPECT_TRUE(chosen.result.checked);
  EXPECT_TRUE(chosen.result.candidates[1].error.starts_with("given up")) << chosen.result.candidates[1].error;
}

}  // namespace
}  // namespace rlgo::optimise

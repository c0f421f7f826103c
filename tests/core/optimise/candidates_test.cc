#include "core/optimise/candidates.h"

#include <gmock/gmock.h>

#include <numeric>

#include "core/base/temporary_folder.h"
#include "core/graph/editor.h"
#include "core/graph/text.h"
#include "core/rules/rule_choice.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

// Prices that Winograd's form beats by far, as it has no convolution, and that like those better that do nothing else.
class FondOfSums : public cost::CostModel {
 public:
  std::string name() const override { return "fond of sums"; }
  double op_us(const graph::Graph& graph, graph::NodeId id) override {
    const auto& node = graph.node(id);
    if (cost::is_free(node) || node.constant) return 0;
    if (node.op() != ops::Op::conv2d) return 1;
    return 500 + (node.inputs.size() > 2 ? 200 : 0) + (node.attrs().word(ops::Attr::act) != "none" ? 200 : 0);
  }
};

// Writing three takes 6 s where there are 5: the one that gains 0.1 % stays out, the respelled one does not.
TEST(LeaveOutSlight, KeepsTheBestAndTheRespelled) {
  const auto sums = [](int count) {
    graph::Editor e("g");
    graph::Value x = e.add_input("x", {ops::DType::f32, {2}});
    for (int k = 0; k < count; ++k) x = e.op(ops::Op::add, {x, x});
    e.add_output("y", x);
    return *e.finish();
  };
  const auto kinds = [&] {
    return std::vector<Candidate>{{.name = "slight", .graph = sums(999)},
                                  {.name = "respelled", .graph = sums(1000), .stages = {{"respelling", By::formula}}},
                                  {.name = "best", .graph = sums(500)}};
  };
  FondOfSums prices;
  auto all = kinds(), some = kinds();
  leave_out_slight(all, sums(1000), prices, 2, 6);
  EXPECT_EQ(all.size(), 3u);
  leave_out_slight(some, sums(1000), prices, 2, 5);
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[0].name + ", " + some[1].name, "respelled, best");
}

// A runtime under which whole models with convolutions take 0.9 of the time, and those without 1.1.
class FondOfConvolutions : public FakeRuntime {
 public:
  explicit FondOfConvolutions(const Result& result) : FakeRuntime("fond of convolutions"), result_(result) {}
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions&) override {
    if (compared++ == 0) {
      first_models = models.size();
      for (const SearchRun& search : result_.searches) before_first.push_back(search.from);
    }
    cost::Comparison out;
    out.models.resize(models.size(), {.median_us = 1000, .samples = 5, .error = {}});
    out.ratio_spread.resize(models.size(), 0);
    for (const auto& model : models) {
      const auto is_conv = [&](graph::NodeId id) { return model.graph->node(id).op() == ops::Op::conv2d; };
      out.ratio.push_back(&model == &models[0] ? 1 : std::ranges::any_of(model.graph->order(), is_conv) ? 0.9 : 1.1);
    }
    return out;
  }

  int compared = 0;
  size_t first_models = 0;
  std::vector<std::string> before_first;

 private:
  const Result& result_;
};

TEST(Candidates, KindsRunWholeBeforeOneIsRefinedAndWhatTheyContradictIsDropped) {
  OptimiseOptions options;
  options.method = "sweep";
  options.model.graph = "toy_conv";
  const LoadedModel model = load_model(options.model, true);
  Result result;
  result.before = model.graph;
  result.rules = rules::choose_rules({"base", "runtime", "winograd"});
  FondOfConvolutions runtime(result);
  FondOfSums prices, learned;
  const TemporaryFolder folder("rlgo-test");
  StatusLine line(false, false);
  const std::function<bool()> interrupted = [] { return false; };
  OptimiseClock clock(line, 60, interrupted);
  const TimePlan plan = make_plan(60, 0, 1, 1);
  Benchmark benchmark(runtime, {&model.graph, folder.path() / "original.onnx"});
  const Log log;
  Candidates candidates(options, model, prices, benchmark, folder.path(), clock, plan, log, result);
  candidates.use_predicted(&learned);
  candidates.search();

  EXPECT_EQ(runtime.first_models, 4u);  // the original and three kinds
  for (const auto& from : runtime.before_first)
    EXPECT_TRUE(from.ends_with("(by formula)") || from.ends_with("(by learned prices)")) << from;
  EXPECT_THAT(result.contradicted, HasSubstr("whole models take 1.10 of the latency with them and 0.90 without"));
  size_t with_winograd = 0;
  for (const Candidate& candidate : result.candidates) {
    with_winograd +=
        std::ranges::any_of(candidate.trace, [&](const auto& step) { return is_winograd(*result.rules, step.rule); });
  }
  EXPECT_EQ(with_winograd, 1u);  // later searches, by prices that still like it, do without
}

// Prices that like a softmax better than what spells it out.
class FondOfSoftmax : public cost::CostModel {
 public:
  std::string name() const override { return "fond of softmax"; }
  double op_us(const graph::Graph& graph, graph::NodeId id) override { return cost::is_free(graph.node(id)) ? 0 : 1; }
};

// A runtime under which whole models with a softmax take twice as long as others.
class SlowSoftmax : public FakeRuntime {
 public:
  SlowSoftmax() : FakeRuntime("slow softmax") {}
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions&) override {
    cost::Comparison out;
    out.models.resize(models.size(), {.median_us = 1000, .samples = 5, .error = {}});
    out.ratio_spread.resize(models.size(), 0);
    for (const auto& model : models) {
      const auto is_softmax = [&](graph::NodeId id) { return model.graph->node(id).op() == ops::Op::softmax; };
      out.ratio.push_back(std::ranges::any_of(model.graph->order(), is_softmax) ? 1 : 0.5);
    }
    return out;
  }
};

TEST(Candidates, ARespelledModelRunsAgainstTheOriginalWhateverPricesPredict) {
  OptimiseOptions options;
  options.method = "sweep";
  LoadedModel model;
  model.graph = graph::from_text(
      "graph \"heads\"\n%0 = input \"x\" : f32[1,4,32,32]\n%1 = softmax(%0) axis=1\n%2 = input \"z\" : "
      "f32[1,3,16,16]\n%3 = softmax(%2) axis=1\noutput \"a\" = %1\noutput \"b\" = %3\n");
  Result result;
  result.before = model.graph;
  result.rules = rules::rules_to_optimise({});
  SlowSoftmax runtime;
  FondOfSoftmax prices;
  const TemporaryFolder folder("rlgo-test");
  StatusLine line(false, false);
  const std::function<bool()> interrupted = [] { return false; };
  OptimiseClock clock(line, 60, interrupted);
  const TimePlan plan = make_plan(60, 0, 1, 1);
  Benchmark benchmark(runtime, {&model.graph, folder.path() / "original.onnx"});
  const Log log;
  Candidates candidates(options, model, prices, benchmark, folder.path(), clock, plan, log, result);
  candidates.search();
  candidates.choose();
  EXPECT_EQ(result.best().ratio, 0.5);
  EXPECT_THAT(result.best().name, HasSubstr("respelled"));
  EXPECT_THAT(rules::count_rules(result.best().trace, *result.rules), HasSubstr("2 x softmax-of-channels-to-exp"));
}

}  // namespace
}  // namespace rlgo::optimise

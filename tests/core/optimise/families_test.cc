#include "core/optimise/families.h"

#include <gmock/gmock.h>

#include "core/base/temporary_folder.h"
#include "core/graph/editor.h"
#include "core/optimise/candidates.h"
#include "core/rules/rule_choice.h"
#include "core/search/search.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

using testing::HasSubstr;

// Each operator costs the same.
class Count : public cost::CostModel {
 public:
  std::string name() const override { return "count"; }
  double op_us(const graph::Graph& graph, graph::NodeId id) override {
    return cost::is_free(graph.node(id)) || graph.node(id).constant ? 0 : 1;
  }
};

std::shared_ptr<const rules::RuleSet> odd_rules() {
  return rules::RuleSet::parse(R"(
rule relu-of-relu
  tags activation odd
  ?a = (relu ?x)
  ?y = (relu ?a)
  => ?y = (relu ?x)
rule neg-of-neg
  tags activation
  ?a = (neg ?x)
  ?y = (neg ?a)
  => ?y = ?x
)",
                               "odd.rules");
}

LoadedModel of_relus() {
  graph::Editor editor("relus");
  graph::Value x = editor.add_input("x", {ops::DType::f32, {4}});
  for (int k = 0; k < 4; ++k) x = editor.op(ops::Op::relu, {x});
  editor.add_output("y", editor.op(ops::Op::neg, {editor.op(ops::Op::neg, {x})}));
  LoadedModel model;
  model.graph = *editor.finish();
  return model;
}

TEST(Families, TheRarestTagNamesOne) {
  const auto rules = rules::choose_rules({"base", "runtime", "winograd"});
  const auto names = rules->names();
  const auto at = std::ranges::find(names, "winograd-4-3") - names.begin();
  EXPECT_EQ(families_of(*rules)[static_cast<size_t>(at)], "winograd");
}

TEST(Families, GainsAreThoseOfTheirRewrites) {
  Count count;
  const auto rules = odd_rules();
  const LoadedModel model = of_relus();
  const auto found = search::run("sweep", {model.graph, rules, count}, {});
  const auto gains = gains_of(model.graph, rules, found.trace, count, {});
  EXPECT_NEAR(gains.at("odd"), 3.0 / 6, 1e-9);
  EXPECT_NEAR(gains.at("activation"), 2.0 / 6, 1e-9);
}

// Whole models take 1.1 of the time once they have fewer than four relus, and 0.9 without the negations.
class FondOfRelus : public FakeRuntime {
 public:
  FondOfRelus() : FakeRuntime("fond of relus") {}
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions&) override {
    cost::Comparison out;
    out.models.resize(models.size(), {.median_us = 1000, .samples = 5, .error = {}});
    out.ratio_spread.resize(models.size(), 0);
    for (const auto& model : models) {
      const auto relus = std::ranges::count_if(
          model.graph->order(), [&](graph::NodeId id) { return model.graph->node(id).op() == ops::Op::relu; });
      out.ratio.push_back(relus < 4 ? 1.1 : &model == &models[0] ? 1.0 : 0.9);
    }
    return out;
  }
};

TEST(Families, OneThatWholeModelsContradictIsLeftOut) {
  OptimiseOptions options;
  options.method = "sweep";
  const LoadedModel model = of_relus();
  Result result;
  result.before = model.graph;
  result.rules = odd_rules();
  FondOfRelus runtime;
  Count prices, learned;
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
  EXPECT_THAT(result.contradicted, HasSubstr("rules 'odd': whole models take 1.10 of the latency with them"));
  EXPECT_EQ(result.candidates.back().trace.size(), 1u);  // the negations alone
}

}  // namespace
}  // namespace rlgo::optimise

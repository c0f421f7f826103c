#include "core/optimise/whole_timer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "core/base/error.h"
#include "core/rules/parser.h"
#include "core/rules/rule_choice.h"
#include "core/rules/rules.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

// The first model takes 40 us at first and 80 later, the second half of that.
class Drifting : public FakeRuntime {
 public:
  Drifting() : FakeRuntime("drifting") {}
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions&) override {
    for (const auto& model : models) EXPECT_TRUE(std::filesystem::exists(model.file));
    ++comparisons;
    cost::Comparison out;
    out.models.resize(models.size());
    out.models[0].median_us = comparisons == 1 ? 40 : 80;
    out.models.back().error = error;
    out.ratio = {1, 0.5};
    return out;
  }

  int comparisons = 0;
  std::string error;
};

struct Fixture {
  LoadedModel model = load_model({.graph = "toy_conv"}, true);
  std::shared_ptr<const rules::RuleSet> rules = rules::choose_rules({"base"});
  std::shared_ptr<Drifting> runtime = std::make_shared<Drifting>();
  WholeTimer timer = whole_timer(
      runtime, model, 3, [](const LoadedModel& from, const graph::Graph& graph, const std::filesystem::path& file) {
        export_model(from, graph, file);
      });

  graph::Graph rewritten() const {
    rules::MatchIndex index(rules, model.graph);
    int rule = 0;
    while (index.matches(rule).empty()) ++rule;
    return rules::apply(*rules, index.matches(rule)[0], model.graph)->graph;
  }
};

TEST(WholeTimer, QuotientsTimesTheModelsFirstLatency) {
  Fixture f;
  EXPECT_EQ(f.timer(f.model.graph), 40);
  EXPECT_EQ(f.timer(f.rewritten()), 20);  // though the machine became slower
}

TEST(WholeTimer, EqualGraphsOnceCopiesIncluded) {
  Fixture f;
  const WholeTimer copy = f.timer;
  EXPECT_EQ(f.timer(f.rewritten()), 20);
  EXPECT_EQ(copy(f.rewritten()), 20);
  EXPECT_EQ(copy(f.model.graph), 40);
  EXPECT_EQ(f.runtime->comparisons, 1);
}

TEST(WholeTimer, AFailureIsToldAndTriedAgain) {
  Fixture f;
  f.runtime->error = "no such operator";
  try {
    f.timer(f.rewritten());
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "drifting cannot time the whole graph: no such operator");
  }
  f.runtime->error.clear();
  EXPECT_EQ(f.timer(f.rewritten()), 40);  // the model's first latency: the second comparison's
}

}  // namespace
}  // namespace rlgo::optimise

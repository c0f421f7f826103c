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

// The first model takes 40 us at first and 80 later. The second one takes `ratios` of that, a comparison after the
// other and then again, in rounds that are `spread` apart; or it fails.
class Drifting : public FakeRuntime {
 public:
  Drifting() : FakeRuntime("drifting") {}
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions& options) override {
    for (const auto& model : models) EXPECT_TRUE(std::filesystem::exists(model.file));
    const double ratio = ratios[static_cast<size_t>(comparisons++) % ratios.size()];
    if (dies) fail("measurer ended in the middle of a request");
    cost::Comparison out;
    out.models.resize(models.size());
    out.quotients.resize(models.size());
    out.models[0].median_us = comparisons == 1 ? 40 : 80;
    out.models.back().error = error;
    for (int round = 0; round < options.repeats; ++round)
      out.quotients.back().push_back(ratio + spread * (round % 3 - 1));
    return out;
  }

  int comparisons = 0;
  std::vector<double> ratios = {0.5};
  double spread = 0;
  bool dies = false;
  std::string error;
};

struct Fixture {
  LoadedModel model = load_model({.graph = "toy_conv"}, true);
  std::shared_ptr<const rules::RuleSet> rules = rules::choose_rules({"base"});
  std::shared_ptr<Drifting> runtime = std::make_shared<Drifting>();

  cost::WholeTimer timer(const WholeTimerOptions& options = {3}) const {
    return whole_timer(runtime, model, options,
                       [](const LoadedModel& from, const graph::Graph& graph, const std::filesystem::path& file) {
                         export_model(from, graph, file);
                       });
  }
  graph::Graph rewritten() const {
    rules::MatchIndex index(rules, model.graph);
    int rule = 0;
    while (index.matches(rule).empty()) ++rule;
    return rules::apply(*rules, index.matches(rule)[0], model.graph)->graph;
  }
};

TEST(WholeTimer, QuotientsTimesTheModelsFirstLatency) {
  const Fixture f;
  const auto timer = f.timer();
  EXPECT_EQ(timer(f.model.graph, 1).us(), 40);
  EXPECT_EQ(timer(f.rewritten(), 1).us(), 20);  // though the machine became slower
  EXPECT_EQ(timer(f.rewritten(), 1).ratio, 0.5);
}

TEST(WholeTimer, EqualGraphsOnceCopiesIncluded) {
  const Fixture f;
  const auto timer = f.timer();
  const auto copy = timer;
  EXPECT_EQ(timer(f.rewritten(), 1).us(), 20);
  EXPECT_EQ(copy(f.rewritten(), 1).us(), 20);
  EXPECT_EQ(copy(f.model.graph, 1).us(), 40);
  EXPECT_EQ(f.runtime->comparisons, 1);
}

TEST(WholeTimer, AClearDifferenceNeedsTheFewestLooks) {
  const Fixture f;
  const auto timed = f.timer(looks_for_latency(3))(f.rewritten(), 1);
  EXPECT_EQ(f.runtime->comparisons, 2);
  EXPECT_EQ(timed.error, 0.005);  // all rounds agree
}

TEST(WholeTimer, LooksThatDisagreeAreItsErrorAndNeedMore) {
  const Fixture f;
  f.runtime->ratios = {0.9, 1.1};
  const auto timer = f.timer(looks_for_latency(3));
  EXPECT_GE(timer(f.rewritten(), 1).error, 0.1);
  EXPECT_EQ(f.runtime->comparisons, 4);
  timer(f.rewritten(), 1);
  EXPECT_EQ(f.runtime->comparisons, 4) << "no more than the most";
}

// Rounds 30 % apart: the graph may be as fast as one at 0.52, but not as one at 1.
TEST(WholeTimer, NoiseBelowTheDifferenceAsksForNoMoreRounds) {
  for (const auto& [against, looks] : {std::pair{1.0, 2}, {0.52, 4}}) {
    const Fixture f;
    f.runtime->spread = 0.3;
    EXPECT_GT(f.timer(looks_for_latency(9))(f.rewritten(), against).error, 0.05);
    EXPECT_EQ(f.runtime->comparisons, looks) << against;
  }
}

TEST(WholeTimer, AFailureIsReportedAndTriedOnceMore) {
  const Fixture f;
  f.runtime->error = "no such operator";
  const auto timer = f.timer();
  EXPECT_EQ(timer(f.rewritten(), 1).failure, "no such operator");
  f.runtime->error.clear();
  EXPECT_EQ(timer(f.rewritten(), 1).us(), 40);  // the model's first latency: the second comparison's
}

// Each failure may be a process that died, or a minute of a hang.
TEST(WholeTimer, AGraphThatKillsTheTargetIsLeftAlone) {
  const Fixture f;
  const auto timer = f.timer();
  EXPECT_TRUE(timer(f.model.graph, 1).ok());
  f.runtime->dies = true;
  for (int k = 0; k < 5; ++k) {
    const auto timed = timer(f.rewritten(), 1);
    EXPECT_EQ(timed.failure, "measurer ended in the middle of a request");
  }
  EXPECT_EQ(f.runtime->comparisons, 3);
}

TEST(WholeTimer, TimesAreKeptApartByWhatTheyWereTakenUnder) {
  EXPECT_EQ(timed_under(Drifting()), "drifting, paper, 1 thread");
}

}  // namespace
}  // namespace rlgo::optimise

#include "learner/session/latency_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cost/analytic.h"
#include "tests/core/optimise/fake_runtime.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::learner {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// A run on a small model whose graphs are the faster the fewer operators they have, whatever they cost.
struct Training {
  explicit Training(const std::string& name, const std::string& runtime = "fake 1.0")
      : folder{std::filesystem::path(testing::TempDir()) / name} {
    std::filesystem::remove_all(folder.path);
    std::filesystem::create_directories(folder.path);
    graph.model = optimise::load_model({.graph = "toy_conv"}, true);
    prices.model = std::make_shared<cost::AnalyticCost>();
    prices.runtime = std::make_shared<optimise::FakeRuntime>(runtime);
    begin(graph, rules, *prices.model, {.reward = env::Reward::latency}, 100);
  }
  LatencyAgentResult learn(const std::string& file) {
    const auto timer = [this](const graph::Graph& g, double) -> cost::WholeTiming {
      ++timed;
      if (dies) return {100, 1, 0, "measurer ended in the middle of a request"};
      const double ratio = static_cast<double>(g.size()) / static_cast<double>(graph.model.graph.size());
      if (noisy != 0 && noisy_graph == 0) noisy_graph = g.hash();
      if (noisy_graph == g.hash()) return {100, ratio / 4, noisy};
      return {100, ratio, noise};
    };
    return learn_latency({.graph = graph,
                          .folder = folder,
                          .rules = rules,
                          .prices = prices,
                          .timer = timer,
                          .options = {.data = file, .graphs = 12},
                          .seed = 1},
                         Log());
  }

  RunFolder folder;
  RunGraph graph{"toy_conv", "toy_conv", {}};
  std::shared_ptr<const rules::RuleSet> rules = rules::shipped_rules();
  optimise::Prices prices;
  double noise = 0.005;
  double noisy = 0;  // error of the first graph, which then answers a quarter of its time; 0: it is like the others
  uint64_t noisy_graph = 0;
  bool dies = false;
  int timed = 0;
};

TEST(LatencyAgent, FindsAFasterGraphAndKeepsWhatItTimed) {
  Training first("rlgo_latency_first");
  const auto file = (first.folder.path / "timed.tsv").string();
  const auto learned = first.learn("");
  EXPECT_LE(learned.timings.all(), first.timed);
  EXPECT_GT(learned.timings.shown, 0);
  const auto& trace = first.graph.best->trace().rewrites;
  ASSERT_FALSE(trace.empty());
  EXPECT_LT(rules::replay(first.graph.model.graph, first.rules, trace).size(), first.graph.model.graph.size());
  EXPECT_GT(MetricsFile(first.folder.metrics()).rows(), 0);
  Training second("rlgo_latency_second");
  EXPECT_THAT(second.learn(file).form, HasSubstr("known from earlier calls"));
  EXPECT_FALSE(second.graph.best->trace().rewrites.empty());
}

TEST(LatencyAgent, KnowledgeOfAnotherVersionIsRefused) {
  Training first("rlgo_latency_old");
  first.learn("");
  Training other("rlgo_latency_new", "fake 1.1");
  EXPECT_THAT([&] { other.learn((first.folder.path / "timed.tsv").string()); },
              ThrowsMessage<Error>(testing::AllOf(HasSubstr("timed in fake 1.0"), HasSubstr("timed in fake 1.1"))));
}

TEST(LatencyAgent, ATargetThatDiesLeavesTheUnmodifiedGraph) {
  Training run("rlgo_latency_dies");
  run.dies = true;
  const auto learned = run.learn("");
  EXPECT_GT(learned.timings.failed, 0);
  EXPECT_EQ(learned.timings.shown + learned.timings.within_noise, 0);
  EXPECT_TRUE(run.graph.best->trace().rewrites.empty());
}

TEST(LatencyAgent, GainsWithinTheNoiseAreNotTaken) {
  Training run("rlgo_latency_noise");
  run.noise = 0.9;
  const auto learned = run.learn("");
  EXPECT_EQ(learned.timings.shown, 0);
  EXPECT_GT(learned.timings.within_noise, 0);
  EXPECT_TRUE(run.graph.best->trace().rewrites.empty());
}

// The graph that seems fastest has an interval that reaches beyond the unmodified one's time.
TEST(LatencyAgent, AFastGraphThatIsNoiseIsNotTaken) {
  Training run("rlgo_latency_lucky");
  run.noisy = 1.5;
  run.learn("");
  const auto& trace = run.graph.best->trace().rewrites;
  ASSERT_FALSE(trace.empty());
  EXPECT_NE(rules::replay(run.graph.model.graph, run.rules, trace).hash(), run.noisy_graph);
}

}  // namespace
}  // namespace rlgo::learner

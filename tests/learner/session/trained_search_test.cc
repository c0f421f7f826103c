#include "learner/session/trained_search.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/cost/profile.h"
#include "core/options/options.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::learner {
namespace {

class TrainedSearchTest : public ::testing::Test {
 protected:
  search::Result run(const graph::Graph& graph, int64_t steps, const std::vector<rules::Trace>& ways) {
    search::Options options;
    int64_t taken = 0;
    options.progress = [&](const search::Counters& counters, double) { taken = counters.steps; };
    options.stop = [&] { return taken >= steps; };
    return search_by_training({graph, rules_, *model_}, options, ways);
  }
  const graph::Graph graph_ = zoo::make("squeezenet1_1");
  const std::shared_ptr<const rules::RuleSet> rules_ = rules::shipped_rules();
  const std::shared_ptr<cost::CostModel> model_ = cost::analytic_cost("gpu");
};

TEST_F(TrainedSearchTest, GoesOnBelowWhereTheWaysEnd) {
  const auto greedy = search::run("greedy", {graph_, rules_, *model_});
  const auto found = run(graph_, 700, {greedy.trace});
  EXPECT_LT(found.after_us, 0.99 * greedy.after_us);
  EXPECT_GE(found.counters.steps, 700);
  EXPECT_GT(found.counters.walks, 10);
  EXPECT_NEAR(cost::graph_cost(*model_, found.graph).runtime_us, found.after_us, 1e-6 * found.before_us);
  const auto made = rules::replay(graph_, rules_, found.trace, 200);
  EXPECT_EQ(made.hash(), found.graph.hash());
  ASSERT_GE(found.curve.size(), 2u);
  EXPECT_EQ(found.curve.front().best_us, found.before_us);
  EXPECT_EQ(found.curve.back().best_us, found.after_us);
}

TEST_F(TrainedSearchTest, DependsOnItsArgumentsAlone) {
  const graph::Graph toy = zoo::make("toy_conv");
  const auto greedy = search::run("greedy", {toy, rules_, *model_});
  const auto one = run(toy, 1200, {greedy.trace}), other = run(toy, 1200, {greedy.trace});  // more than one update
  EXPECT_EQ(one.after_us, other.after_us);
  EXPECT_EQ(one.trace, other.trace);
  EXPECT_EQ(one.counters.walks, other.counters.walks);
}

TEST_F(TrainedSearchTest, NeedsAnEndAndAWay) {
  search::Options endless;
  EXPECT_THROW(search_by_training({graph_, rules_, *model_}, endless, {}), Error);
  const auto none = run(graph_, 10, {});
  EXPECT_EQ(none.reason, search::StopReason::finished);
  EXPECT_TRUE(none.trace.empty());
  EXPECT_EQ(none.after_us, none.before_us);
}

// The values of both, by the names of options.
std::map<std::string, std::string> values(env::EnvOptions env, nets::AgentOptions agent, const std::string& config) {
  Options options;
  int64_t epochs = 0;
  options.integer("epochs", epochs, 0, 1 << 30, "");
  env::declare(options, env);
  nets::declare(options, agent);
  options.parse_config(config, "configs/windows.cfg", Source::file);
  auto values = options.values();
  for (const char* own : {"epochs", "env.frontier", "env.searches", "env.search-budget"})
    EXPECT_EQ(values.erase(own), 1u);
  return values;
}

TEST(TrainedSearch, PlaysAsTheShippedConfigurationDoes) {
  EXPECT_EQ(values(window_env(), window_agent(), ""), values({}, {}, read_file("configs/windows.cfg")));
}

}  // namespace
}  // namespace rlgo::learner

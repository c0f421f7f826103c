#include "core/env/starts.h"

#include <gtest/gtest.h>

#include "core/cost/analytic.h"
#include "core/env/rewrite_env.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::env {
namespace {

class StartsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Starts> make(double share) {
    return std::make_shared<Starts>(graph_, rules_, *model_, 200, share, 2000);
  }
  const graph::Graph graph_ = zoo::make("squeezenet1_1");
  const std::shared_ptr<const rules::RuleSet> rules_ = rules::shipped_rules();
  const std::shared_ptr<cost::CostModel> model_ = std::make_shared<cost::AnalyticCost>();
};

TEST_F(StartsTest, AShareOfTheKeysBeginsOnTheWayOfASearch) {
  const auto none = make(0), half = make(0.5), again = make(0.5);
  EXPECT_GE(half->ways(), 2u);
  int begun = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    EXPECT_FALSE(none->of(key));
    const auto start = half->of(key), same = again->of(key);
    ASSERT_EQ(start.has_value(), same.has_value());
    if (!start) continue;
    ++begun;
    EXPECT_EQ(*start->way, *same->way);
    EXPECT_EQ(start->length, same->length);
    EXPECT_TRUE(start->length >= 1 && start->length <= start->way->size());
  }
  EXPECT_TRUE(begun > 70 && begun < 130) << begun;
}

// reset() stands where the start says, the trace tells the way there, and R5 counts from there.
TEST_F(StartsTest, AnEpisodeBeginsWhereItsKeySays) {
  const auto starts = make(1);
  EnvOptions options;
  options.reward = Reward::best;
  RewriteEnv env(graph_, rules_, model_, options, {}, starts);
  for (uint64_t key = 0; key < 10; ++key) {
    const auto start = starts->of(key);
    const auto seen = env.reset(key);
    mdp::check(seen, env.spec());
    ASSERT_EQ(env.trace().size(), start->length);
    EXPECT_NEAR(env.current_cost_us(), (*start->cost_us)[start->length - 1], 1e-6 * env.initial_cost_us());
    const double before = env.current_cost_us();
    const mdp::Action first{
        static_cast<int32_t>(std::ranges::find_if(seen.counts, [](int c) { return c > 0; }) - seen.counts.begin()), 0};
    const auto result = env.step(first);
    EXPECT_NEAR(result.reward, 100 * std::max(0.0, before - env.current_cost_us()) / env.initial_cost_us(), 1e-4);
  }
}

TEST_F(StartsTest, TheBestIsNoWorseThanAnyWayAndItsTraceMakesIt) {
  const auto starts = make(1);
  const auto& best = starts->best();
  ASSERT_FALSE(best.rewrites.empty());
  ASSERT_EQ(best.rewrites.size(), best.cost_us.size());
  for (uint64_t key = 0; key < 50; ++key)
    EXPECT_LE(best.cost_us.back(), std::ranges::min(*starts->of(key)->cost_us) * (1 + 1e-12));
  const double made_us = cost::graph_cost(*model_, rules::replay(graph_, rules_, best.rewrites, 200)).runtime_us;
  EXPECT_NEAR(made_us, best.cost_us.back(), 1e-9 * made_us);
}

}  // namespace
}  // namespace rlgo::env

#include "core/env/starts.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cost/analytic.h"
#include "core/cost/profile.h"
#include "core/env/checkpoints.h"
#include "core/env/playground.h"
#include "core/env/rewrite_env.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::env {
namespace {

std::vector<mdp::Action> legal_actions(const mdp::Observation& seen) {  // NO-OP left out
  std::vector<mdp::Action> legal;
  for (size_t x = 0; x < seen.counts.size(); ++x) {
    for (int32_t l = 0; l < seen.counts[x]; ++l) legal.push_back({static_cast<int32_t>(x), l});
  }
  return legal;
}

class StartsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Starts> make(double fraction) {
    return std::make_shared<Starts>(graph_, rules_, *model_, 200, fraction, 2000);
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

// reset() stands where the start states, the trace shows the way there, and R5 counts from there.
TEST_F(StartsTest, AnEpisodeBeginsWhereItsKeyStates) {
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

// In a window: from a local optimum, each graph once, and greedy descent after it. What was offered has the places that
// traces name, so that beginning and steps can be made again on the unmodified graph.
TEST_F(StartsTest, AnEpisodeInAWindowBeginsAtALocalOptimumAndIsPaidForWhatDescentAddsToIt) {
  EnvOptions options;
  options.reward = Reward::best;
  options.window = 40;
  options.window_steps = 12;
  // Costs of a GPU: under a CPU core's, chance finds nothing below what greedy search finds.
  const std::shared_ptr<cost::CostModel> model = cost::analytic_cost("gpu");
  const std::vector<std::string> greedy = {"greedy"};
  RewriteEnv env(graph_, rules_, model, options, {},
                 std::make_shared<Starts>(graph_, rules_, *model, 200, 1, 20000, greedy));
  int paid = 0;
  for (uint64_t key = 0; key < 120; ++key) {
    auto seen = env.reset(key);
    const auto beginning = env.beginning();
    const double begin_us = env.current_cost_us();
    for (size_t l = 0; l < seen.loc_node.size(); ++l) EXPECT_GE(seen.loc_feat[2 * l], -1e-5);
    EXPECT_NEAR(beginning.cost_us.back(), begin_us, 1e-9 * begin_us);
    rules::Trace trace;
    for (const auto& rewrite : beginning.rewrites) trace.push_back({rewrite.rule, rewrite.location});
    Rng rng({key});
    double reward = 0, last_us = begin_us;
    int steps = 0;
    for (bool running = true; running; ++steps) {
      const std::vector<mdp::Action> legal = legal_actions(seen);
      if (legal.empty()) break;
      const auto action = legal[rng.below(legal.size())];
      const auto result = env.step(action);
      trace.push_back({action.rule, result.info.location});
      last_us = result.info.cost_us;
      reward += result.reward;
      running = !result.terminal;
      EXPECT_FALSE(result.truncated);
      seen = result.observation;
    }
    EXPECT_LE(steps, 12);
    const double made_us = cost::graph_cost(*model, rules::replay(graph_, rules_, trace, 200)).runtime_us;
    EXPECT_NEAR(made_us, last_us, 1e-9 * made_us);
    if (steps == 0) continue;
    EXPECT_NEAR(reward, 100 * std::max(0.0, begin_us - env.current_cost_us()) / env.initial_cost_us(), 1e-4);
    paid += reward > 0 ? 1 : 0;
  }
  EXPECT_GT(paid, 0);
}

// Only time distinguishes an environment that keeps states from one that makes them again: on ways, in windows, of
// which some gain, with more states than there is room for.
TEST_F(StartsTest, CheckpointsChangeNothing) {
  const std::shared_ptr<cost::CostModel> model = cost::analytic_cost("gpu");
  const auto starts = std::make_shared<Starts>(graph_, rules_, *model, 200, 0.9, 4000);
  for (const int window : {0, 40}) {
    EnvOptions options;
    options.reward = Reward::best;
    options.window = window;
    options.window_steps = 4;
    options.max_steps = 4;
    for (const int64_t room : {int64_t{1} << 30, int64_t{1} << 20}) {
      const auto kept = std::make_shared<Checkpoints>(room);
      RewriteEnv plain(graph_, rules_, model, options, {}, starts);
      RewriteEnv one(graph_, rules_, model, options, {}, starts, kept),
          other(graph_, rules_, model, options, {}, starts, kept);
      for (uint64_t turn = 0; turn < 60; ++turn) {
        const uint64_t key = turn % 20;
        RewriteEnv& env = turn % 3 == 0 ? other : one;
        auto seen = plain.reset(key);
        EXPECT_EQ(env.reset(key), seen);
        EXPECT_EQ(env.beginning(), plain.beginning());
        EXPECT_EQ(env.trace(), plain.trace());
        EXPECT_EQ(env.current_cost_us(), plain.current_cost_us());
        Rng rng({turn});
        for (bool running = true; running;) {
          const std::vector<mdp::Action> legal = legal_actions(seen);
          if (legal.empty()) break;
          const auto action = legal[rng.below(legal.size())];
          const auto expected = plain.step(action), result = env.step(action);
          EXPECT_EQ(result.observation, expected.observation);
          EXPECT_EQ(result.changes.from, expected.changes.from);
          EXPECT_EQ(result.changes.kept, expected.changes.kept);
          EXPECT_EQ(result.reward, expected.reward);
          EXPECT_EQ(result.info.location, expected.info.location);
          running = !expected.terminal && !expected.truncated;
          seen = expected.observation;
        }
      }
      EXPECT_GT(kept->size(), 0u);
    }
  }
}

Way way_of(double us) { return {{{1, 2}, {0, 3}}, {us + 1, us}}; }

TEST_F(StartsTest, ASearchThatIsNamedAgainDrawsAnew) {
  const std::vector<std::string> twice = {"random", "random"};
  Starts starts(graph_, rules_, *model_, 200, 1, 2000, twice);
  ASSERT_EQ(starts.ways(), 2u);
  starts.archive_ways();
  EXPECT_NE(starts.archive(0).ways(), starts.archive(1).ways());
  Starts again(graph_, rules_, *model_, 200, 1, 2000, twice);
  again.archive_ways();
  EXPECT_EQ(again.encode_archives(), starts.encode_archives());
}

// With measured costs the learner alone searches, and actors hear of it.
TEST_F(StartsTest, WaysAreReceivedInPlaceOfSearches) {
  Starts searched(graph_, rules_, *model_, 200, 1, 2000);
  ASSERT_GE(searched.ways(), 2u);
  searched.archive_ways();
  EnvOptions options;
  options.frontier = 1;
  const auto received = received_starts(options, graph_, rules_, *model_);
  EXPECT_EQ(received->ways(), 0u);
  EXPECT_FALSE(received->of(0));
  received->decode_archives(searched.encode_archives());
  EXPECT_EQ(received->islands(), searched.islands());
  for (uint64_t key = 0; key < 20; ++key) {
    const auto start = received->of(key);
    ASSERT_TRUE(start);
    EXPECT_GT(start->length, 0u);
    EXPECT_LT((*start->cost_us)[start->length - 1], cost::graph_cost(*model_, graph_).runtime_us);
  }
}

// The cheap graphs of one search must not drive those of another out.
TEST_F(StartsTest, IslandsDoNotMix) {
  Starts starts(graph_, rules_, *model_, 200, 1, 2000);
  ASSERT_GE(starts.islands(), 2u);
  const Way cheap = {{{0, 0}}, {1.0}};
  EXPECT_TRUE(starts.offer(cheap, 1));
  EXPECT_TRUE(starts.archive(0).ways().empty());
  int from_archive = 0;
  for (uint64_t key = 0; key < 300; ++key) {
    ASSERT_LT(starts.island_of(key), starts.islands());
    const auto start = starts.of(key);
    ASSERT_TRUE(start);
    if (start->way != &starts.archive(1).ways()[0].rewrites) continue;
    ++from_archive;
    EXPECT_EQ(starts.island_of(key), 1u);
  }
  EXPECT_GT(from_archive, 20);
  EXPECT_THROW(starts.decode_archives("\x01"), Error);
}

TEST(Archive, KeepsTheCheapestOnesOfDifferentCosts) {
  Archive archive(3);
  for (const double us : {50.0, 70.0, 60.0}) EXPECT_TRUE(archive.offer(way_of(us)));
  EXPECT_FALSE(archive.offer(way_of(60 * (1 + 1e-12))));  // as one that it has
  EXPECT_FALSE(archive.offer(way_of(80)));
  EXPECT_TRUE(archive.offer(way_of(40)));
  EXPECT_TRUE(archive.offer({{{0, 0}}, {40}}));  // as cheap, with an earlier rewrite
  ASSERT_EQ(archive.ways().size(), 3u);
  EXPECT_EQ(archive.ways()[0].cost_us.back(), 40);
  EXPECT_EQ(archive.ways()[2].cost_us.back(), 60);
}

TEST(Archive, CheapOnesAreDrawnMoreOftenAndAllAreDrawn) {
  Archive archive;
  for (int i = 0; i < 4; ++i) archive.offer(way_of(10 + i));
  int drawn[4] = {};
  Rng rng({7});
  for (int i = 0; i < 1600; ++i) ++drawn[static_cast<size_t>(archive.draw(rng).cost_us.back() - 10)];
  EXPECT_GT(drawn[0], 600);  // 7 of 16
  EXPECT_GT(drawn[3], 60);   // 1 of 16
}

TEST(Archive, TravelsAsBytes) {
  Archive archive, other;
  archive.offer(way_of(12.5));
  archive.offer(way_of(11));
  other.decode(archive.encode());
  EXPECT_EQ(other.ways(), archive.ways());
  const std::string bytes = archive.encode();
  EXPECT_THROW(other.decode(std::string_view(bytes).substr(0, bytes.size() - 1)), Error);
  EXPECT_THROW(other.decode(bytes + "x"), Error);
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

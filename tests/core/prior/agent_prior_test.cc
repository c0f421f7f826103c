#include "core/prior/agent_prior.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/agent/player.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/env/features.h"
#include "core/nets/plain.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::prior {
namespace {

constexpr int kMaxLocations = 200;

// A network with nothing zero in it, so that every part of it shows.
std::shared_ptr<const agent::Network> network(const rules::RuleSet& rules) {
  nets::ActorCritic module(env::observation_spec(rules, kMaxLocations), nets::AgentOptions{.rounds = 2, .width = 16},
                           1);
  const torch::NoGradGuard no_gradients;
  torch::manual_seed(1);
  for (auto& p : module->parameters()) p.add_(0.1 * torch::randn_like(p));
  return std::make_shared<const agent::Network>(nets::plain_network(*module));
}

class PriorTest : public ::testing::Test {
 protected:
  // What is computed from nothing: features of the whole graph, all rows.
  std::vector<float> from_nothing(const search::Walk& walk, const search::Position& at, float& stop) {
    env::FeatureBuilder features(cost_);
    features.reset(walk.graph());
    const auto seen =
        features.observe(walk.graph(), walk.places(), rules_->size(), {at.initial_us, at.current_us, at.best_us});
    agent::Player player(network_);
    const auto& judged = player.judge(seen);
    stop = judged.stop;
    return judged.score;
  }
  void expect_agreement(AgentPrior& prior, const search::Walk& walk, double initial_us, double best_us) {
    const search::Position at{initial_us, walk.cost_us(), std::min(best_us, walk.cost_us())};
    float stop = 0;
    const auto expected = from_nothing(walk, at, stop);
    prior.rank(walk, at);
    ASSERT_EQ(prior.judged().score.size(), expected.size());
    for (size_t l = 0; l < expected.size(); ++l) ASSERT_NEAR(prior.judged().score[l], expected[l], 2e-3) << l;
    ASSERT_NEAR(prior.judged().stop, stop, 2e-3);
  }

  std::shared_ptr<const rules::RuleSet> rules_ = rules::shipped_rules();
  std::shared_ptr<cost::CostModel> cost_ = std::make_shared<cost::AnalyticCost>();
  std::shared_ptr<const agent::Network> network_ = network(*rules_);
};

// What is kept along 10,000 random rewrites, with returns to earlier graphs, is what is computed from nothing.
TEST_F(PriorTest, KeepsWhatAFullPassComputes) {
  const auto graph = zoo::make("squeezenet1_1");
  const double initial_us = cost::graph_cost(*cost_, graph).runtime_us;
  const search::State start{graph, rules::MatchIndex(rules_, graph), graph::NameHash(graph), initial_us, 0, nullptr};
  search::Walk walk(start, *cost_, *cost_, kMaxLocations, [] { return true; });
  AgentPrior prior(network_, *rules_);
  Rng rng({7});
  std::vector<search::Walk::Mark> marks = {walk.mark()};
  for (int step = 0; step < 10'000; ++step) {
    if (walk.places().empty() || rng.below(50) == 0) walk.restore(marks[rng.below(marks.size())]);
    if (!walk.places().empty()) walk.take(rng.below(walk.places().size()));
    if (rng.below(100) == 0 && marks.size() < 8) marks.push_back(walk.mark());
    if (rng.below(4) != 0) prior.rank(walk, {initial_us, walk.cost_us(), walk.cost_us()});
    if (step % 100 == 0) expect_agreement(prior, walk, initial_us, 0.9 * initial_us);
  }
}

// The agent knows all rules but one: a place of that one has the mean of what is learned of the others.
TEST_F(PriorTest, UnknownRulesCountAsTheOthersDoOnAverage) {
  const auto graph = zoo::make("squeezenet1_1");
  const double initial_us = cost::graph_cost(*cost_, graph).runtime_us;
  const search::State start{graph, rules::MatchIndex(rules_, graph), graph::NameHash(graph), initial_us, 0, nullptr};
  const search::Walk walk(start, *cost_, *cost_, kMaxLocations, [] { return true; });
  const int32_t unknown = walk.places().front().step.rule;
  auto names = rules_->names();
  names.erase(names.begin() + unknown);
  AgentPrior prior(network(*rules_->subset(names)), *rules_);
  EXPECT_EQ(prior.known_rules(), rules_->size() - 1);
  const auto& learned = prior.rank(walk, {initial_us, initial_us, initial_us}).learned;
  ASSERT_EQ(learned.size(), walk.places().size());
  double sum = 0, known = 0;
  for (size_t k = 0; k < learned.size(); ++k) {
    if (walk.places()[k].step.rule != unknown) sum += static_cast<double>(learned[k]), ++known;
  }
  ASSERT_GT(known, 0);
  EXPECT_NEAR(static_cast<double>(learned[0]), sum / known, 1e-4);
}

// Where some places are offered, the agent sees these alone, and nothing else is taken.
TEST_F(PriorTest, WhatIsOfferedIsAllThereIs) {
  const auto graph = zoo::make("squeezenet1_1");
  const double initial_us = cost::graph_cost(*cost_, graph).runtime_us;
  const search::State start{graph, rules::MatchIndex(rules_, graph), graph::NameHash(graph), initial_us, 0, nullptr};
  const search::Walk walk(start, *cost_, *cost_, kMaxLocations, [] { return true; });
  AgentPrior prior(network_, *rules_);
  std::vector<size_t> offered;
  std::vector<search::Place> places;
  for (size_t k = 0; k < walk.places().size(); k += 3) {
    offered.push_back(k);
    places.push_back(walk.places()[k]);
  }
  env::FeatureBuilder features(cost_);
  features.reset(graph);
  agent::Player player(network_);
  const auto& judged =
      player.judge(features.observe(graph, places, rules_->size(), {initial_us, initial_us, initial_us}));
  const auto scores = prior.rank(walk, {initial_us, initial_us, initial_us, &offered});
  double total = std::exp(static_cast<double>(scores.stop));
  for (size_t l = 0; l < offered.size(); ++l) {
    ASSERT_NEAR(scores.moves[offered[l]] - scores.stop, judged.score[l] - judged.stop, 2e-3) << l;
    total += std::exp(static_cast<double>(scores.moves[offered[l]]));
  }
  EXPECT_NEAR(total, 1, 1e-4);
  EXPECT_EQ(std::ranges::count(scores.moves, -std::numeric_limits<float>::infinity()),
            std::ssize(scores.moves) - std::ssize(offered));
  // Asked of all places next, nothing of that is left.
  EXPECT_EQ(std::ranges::count(prior.rank(walk, {initial_us, initial_us, initial_us}).moves,
                               -std::numeric_limits<float>::infinity()),
            0);
}

// Values are percent of the unmodified graph's cost: below the graph, or below the best so far.
TEST_F(PriorTest, ValuesTellWhatIsComeTo) {
  const auto graph = zoo::make("squeezenet1_1");
  const double initial_us = cost::graph_cost(*cost_, graph).runtime_us;
  const search::State start{graph, rules::MatchIndex(rules_, graph), graph::NameHash(graph), initial_us, 0, nullptr};
  const search::Walk walk(start, *cost_, *cost_, kMaxLocations, [] { return true; });
  auto promising = *network_;
  promising.value_shift = 40;  // far from what the weights add
  const auto network = std::make_shared<const agent::Network>(promising);
  const search::Position at{initial_us, initial_us, 0.9 * initial_us};
  AgentPrior none(network, *rules_), saved(network, *rules_, AgentPrior::Values::saved),
      best(network, *rules_, AgentPrior::Values::best);
  EXPECT_FALSE(none.has_values());
  EXPECT_FALSE(none.rank(walk, at).expected_us.has_value());
  EXPECT_TRUE(saved.has_values() && saved.fork()->has_values());
  EXPECT_NEAR(saved.rank(walk, at).expected_us.value(), 0.6 * initial_us, 0.1 * initial_us);
  EXPECT_NEAR(best.rank(walk, at).expected_us.value(), saved.rank(walk, at).expected_us.value() - 0.1 * initial_us,
              1e-6 * initial_us);
}

TEST_F(PriorTest, RefusesWhatItCannotServe) {
  const agent::AgentFile none{network_->spec, network_->shape, {}, {}};
  EXPECT_THROW(make_prior(none, "a", *rules_, kMaxLocations + 1), Error);
  EXPECT_THROW(make_prior(none, "a", *rules_, kMaxLocations), Error);  // no tensors
}

// Features, operators or rules of another version: the file is named, and nothing is read past a table's end.
TEST_F(PriorTest, RefusesAgentsOfOtherVersions) {
  const auto refusal = [&](mdp::ObservationSpec spec, const rules::RuleSet& rules) {
    auto network = *network_;
    network.spec = std::move(spec);
    return AgentPrior(std::make_shared<const agent::Network>(network), rules).known_rules();
  };
  auto spec = network_->spec;
  EXPECT_EQ(refusal(spec, *rules_), rules_->size());
  spec.ops -= 1;
  EXPECT_THROW(refusal(spec, *rules_), Error);
  spec = network_->spec;
  spec.location_features += 1;
  EXPECT_THROW(refusal(spec, *rules_), Error);
  spec = network_->spec;
  spec.nonlocal_node_features.clear();
  EXPECT_THROW(refusal(spec, *rules_), Error);
}

}  // namespace
}  // namespace rlgo::prior

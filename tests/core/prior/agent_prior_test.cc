#include "core/prior/agent_prior.h"

#include <gtest/gtest.h>

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

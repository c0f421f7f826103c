// Gumbel AlphaZero in windows: the arithmetic, the tree, and the method `policy-plan` (search_test.cc has what holds
// for every method).
#include "core/search/planner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/cost/analytic.h"
#include "core/graph/editor.h"
#include "core/search/gumbel.h"

namespace rlgo::search {
namespace {

using graph::Value;
using ops::Op;

constexpr double kScale = 0.1;

TEST(Gumbel, HalvingSpendsTheSimulations) {
  EXPECT_EQ(considered_visits(4, 16), (std::vector{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(considered_visits(1, 3), (std::vector{0, 1, 2}));
  for (int considered = 1; considered < 40; ++considered) {
    for (int simulations = 1; simulations < 70; ++simulations)
      ASSERT_EQ(considered_visits(considered, simulations).size(), static_cast<size_t>(simulations));
  }
}

Branches branches(std::vector<double> logits, double value = 0) {
  Branches made;
  made.add(std::move(logits), value);
  return made;
}

// Each simulation is dealt to an action that may have it, and the best of the values is taken; chance cannot outweigh
// them.
TEST(Gumbel, TheBestValueIsTaken) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng({seed});
    Branches b = branches({0, 0, -INFINITY, 0, 0});
    RootChoice choice(b, kScale, 5, 16, rng);
    for (int k = 0; k < 16; ++k) {
      const size_t action = choice.next();
      b.visit(action, action == 3 ? 10 : -static_cast<double>(action));
    }
    EXPECT_EQ(b.visited(), 16);
    EXPECT_EQ(b.visits[2], 0);
    EXPECT_EQ(choice.best(), 3u);
  }
}

// Where all values are equal, actions are drawn as the policy has it.
TEST(Gumbel, EqualValuesLeaveThePolicy) {
  int first = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Rng rng({seed});
    Branches b = branches({std::log(3.0), 0});
    RootChoice choice(b, kScale, 2, 4, rng);
    for (int k = 0; k < 4; ++k) b.visit(choice.next(), 0);
    first += choice.best() == 0u;
  }
  EXPECT_NEAR(first / 4000.0, 0.75, 0.03);
}

TEST(Gumbel, WhatCannotBeTakenIsNotTheBest) {
  Rng rng({1});
  Branches b = branches({0, 0});
  RootChoice choice(b, kScale, 2, 2, rng);
  for (int k = 0; k < 2; ++k) b.visit(choice.next(), 0);
  b.logits[0] = -INFINITY;
  EXPECT_EQ(choice.best(), 1u);
  b.logits[1] = -INFINITY;
  EXPECT_EQ(choice.best(), std::nullopt);
}

// Visits follow the improved policy: equation 14.
TEST(Gumbel, VisitsInsideTheTreeFollowThePolicyAndTheValues) {
  Branches b = branches({std::log(2.0), 0, -INFINITY});
  std::vector<size_t> taken;
  for (int k = 0; k < 6; ++k) {
    taken.push_back(lagging_action(b, kScale));
    b.visit(taken.back(), 0);
  }
  EXPECT_EQ(taken, (std::vector<size_t>{0, 1, 0, 0, 1, 0}));
  b.visit(1, 20);
  for (int k = 0; k < 20; ++k) b.visit(lagging_action(b, kScale), k % 2 ? 0 : 0.1);
  EXPECT_GT(b.visits[1], b.visits[0]);
}

// Mixed of the graph's own value and those that were visited, weighed by the policy: equation 33.
TEST(Gumbel, UnvisitedActionsHaveTheMixedValue) {
  Branches b = branches({0, 0, 0}, 1);
  b.visit(0, 4);
  b.visit(1, 2);
  const auto raised = value_logits(b, 1);
  EXPECT_NEAR(raised[0], 51 * (4 - 1), 1e-9);
  EXPECT_NEAR(raised[2], 51 * ((1 + 2 * 3.0) / 3 - 1), 1e-9);
}

// Two ways that begin dearer; the second ends cheaper than the first, and each bars the other.
constexpr const char* kTwoWays = R"(
rule begin-first
  ?y = (relu (matmul ?x ?w act=none))
  => ?y = (relu (abs (matmul ?x ?w act=none)))

rule end-first
  ?y = (relu (abs (matmul ?x ?w act=none)))
  => ?y = (matmul ?x ?w act=relu)

rule begin-second
  ?y = (relu (matmul ?x ?w act=none))
  => ?y = (relu (neg (matmul ?x ?w act=none)))

rule end-second
  ?y = (relu (neg (matmul ?x ?w act=none)))
  => ?y = (relu ?x)
)";

graph::Graph square() {
  graph::Editor e("square");
  const Value x = e.add_input("x", {ops::DType::f32, {64, 64}});
  const Value w = e.add_weight("w", graph::Blob::seeded({ops::DType::f32, {64, 64}}, 1, 0.1));
  e.add_output("y", e.op(Op::relu, {e.op(Op::matmul, {x, w})}));
  return *e.finish();
}

// All rewrites are as good as one another, and as leaving the graph as it is. Expects of graphs with an operator of
// `hopeful` that they come to nothing in the end.
class Uniform : public PolicyPrior {
 public:
  explicit Uniform(std::optional<Op> hopeful = {}) : hopeful_(hopeful) {}
  const Scores& rank(const Walk& walk, const Position& at) override {
    EXPECT_NE(at.offered, nullptr);
    EXPECT_LE(at.best_us, at.current_us);
    scores_.moves.assign(walk.places().size(), 0);
    scores_.expected_us.reset();
    if (!hopeful_) return scores_;
    const auto& graph = walk.graph();
    const bool hopes =
        std::ranges::any_of(graph.order(), [&](graph::NodeId id) { return graph.node(id).op() == hopeful_; });
    scores_.expected_us = hopes ? 0 : at.current_us;
    return scores_;
  }
  bool has_values() const override { return hopeful_.has_value(); }
  std::unique_ptr<PolicyPrior> fork() const override { return std::make_unique<Uniform>(hopeful_); }

 private:
  std::optional<Op> hopeful_;
  Scores scores_;
};

// Episodes from the graph above, in a window that is all of it.
class Ground {
 public:
  explicit Ground(const std::string& rules) : rules_(rules::RuleSet::parse(rules, "test.rules")) {}

  Planner planner(std::unique_ptr<PolicyPrior> prior) const { return {std::move(prior), 16, 8, unit_us_}; }
  // The rules of the rewrites at whose end an episode leaves the graph.
  std::vector<std::string> play(Planner& planner, int horizon, uint64_t seed) {
    Rng rng({seed});
    walk_.restore(start_);
    Region window;
    window.open(walk_.graph(), *walk_.places()[0].move->match, 100);
    const auto taken = planner.play(
        walk_, {window, start_.cost_us, start_.cost_us - 1e-9, horizon, [this] { return ++tries_ > 0; }}, rng);
    std::vector<std::string> names;
    double cost_us = start_.cost_us;
    for (const Taken& t : taken) {
      names.push_back(rules_->name(t.move->match->rule));
      cost_us += t.move->delta_us;
    }
    EXPECT_NEAR(walk_.cost_us(), cost_us, 1e-9);
    EXPECT_NEAR(walk_.cost_us(), cost::graph_cost(cost_, walk_.graph()).runtime_us, 1e-9);
    return names;
  }
  Result search(const std::string& method, Options options) { return run(method, {graph_, rules_, cost_}, options); }
  const Walk& walk() const { return walk_; }
  int tries() const { return tries_; }

 private:
  cost::AnalyticCost cost_;
  std::shared_ptr<const rules::RuleSet> rules_;
  graph::Graph graph_ = square();
  double unit_us_ = cost::graph_cost(cost_, graph_).runtime_us / 3;
  Walk walk_{State{graph_, rules::MatchIndex(rules_, graph_), graph::NameHash(graph_), 3 * unit_us_, 0, nullptr}, cost_,
             cost_, 200, [] { return true; }};
  const Walk::Mark start_ = walk_.mark();
  int tries_ = 0;
};

// Greedy sees two rewrites that cost; planning sees what follows, and goes where the better of the two ends can be
// made.
TEST(Planner, TheBetterOfTwoWaysIsTaken) {
  Ground ground(kTwoWays);
  ASSERT_EQ(ground.search("greedy", {}).trace.size(), 0u);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Planner planner = ground.planner(std::make_unique<Uniform>());
    EXPECT_EQ(ground.play(planner, 2, seed), std::vector<std::string>{"begin-second"});
  }
  Uniform uniform;
  const Result result = ground.search("policy-plan", {.budget = 200, .seed = 1, .prior = &uniform});
  EXPECT_EQ(result.trace, (rules::Trace{{2, 0}, {3, 0}}));
  EXPECT_LT(result.after_us, result.before_us);
}

// What the agent expects decides where no rewrite within reach gains anything.
TEST(Planner, ValuesGuideTheMoves) {
  const std::string rules = R"(
rule dearer
  ?y = (relu (matmul ?x ?w act=none))
  => ?y = (relu (abs (matmul ?x ?w act=none)))

rule hoped-for
  ?y = (relu (matmul ?x ?w act=none))
  => ?y = (relu (neg (matmul ?x ?w act=none)))

rule on
  ?y = (relu (neg (matmul ?x ?w act=none)))
  => ?y = (relu (neg (abs (matmul ?x ?w act=none))))
)";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Ground ground(rules);
    Planner hoping = ground.planner(std::make_unique<Uniform>(Op::neg));
    EXPECT_EQ(ground.play(hoping, 1, seed), std::vector<std::string>{"hoped-for"});
  }
}

TEST(Planner, GraphsAreBuiltOnce) {
  Ground ground(kTwoWays);
  Planner planner = ground.planner(std::make_unique<Uniform>());
  const auto first = ground.play(planner, 4, 1);
  const int64_t tried = ground.walk().tried(), moves = ground.walk().moves();
  const int tries = ground.tries();
  EXPECT_GT(moves, 1);
  EXPECT_EQ(ground.play(planner, 4, 1), first);
  EXPECT_EQ(ground.walk().tried(), tried);
  EXPECT_EQ(ground.walk().moves(), moves);
  EXPECT_EQ(ground.tries(), tries + 1);  // so that a search that sees nothing new ends with its budget
}

// An episode that its budget cuts short ends at the cheapest graph that it saw, or where it began.
TEST(Planner, EpisodesEndWithTheBudget) {
  Uniform uniform;
  for (int budget = 1; budget < 40; ++budget) {
    Ground ground(kTwoWays);
    const Result result = ground.search("policy-plan", {.budget = budget, .seed = 2, .prior = &uniform});
    EXPECT_EQ(result.reason, StopReason::budget);
    EXPECT_EQ(result.counters.candidates, budget);
    EXPECT_LE(result.after_us, result.before_us);
  }
}

TEST(Planner, TheNoteTellsOfAnAgentWithoutValues) {
  Ground ground(kTwoWays);
  Uniform without, with(Op::abs);
  EXPECT_EQ(ground.search("policy-plan", {.budget = 50, .prior = &without}).note,
            "the agent has no values: graphs are valued by their best single rewrite");
  EXPECT_EQ(ground.search("policy-plan", {.budget = 50, .prior = &with}).note, "");
}

}  // namespace
}  // namespace rlgo::search

// What a walk keeps of its rewrites is what trying all of them again finds.
#include "core/search/walk.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/zoo/zoo.h"

namespace rlgo::search {
namespace {

using graph::NodeId;

std::shared_ptr<const rules::RuleSet> shipped() {
  std::vector<std::filesystem::path> files;
  for (const char* file : rules::kShippedFiles) files.push_back(std::filesystem::path("configs/rules") / file);
  return rules::RuleSet::load(files);
}

graph::Graph small(const std::string& name) {
  zoo::ZooOptions options;
  if (name == "bert") options.layers = 2;
  return zoo::make(name, options);
}

// A relu is free behind a convolution or matmul that it alone reads; as where a runtime fuses the two.
class FusingCost : public cost::AnalyticCost {
 public:
  bool is_local() const override { return false; }
  double op_us(const graph::Graph& graph, NodeId id) override {
    const graph::Node& node = graph.node(id);
    if (node.op() == ops::Op::relu && !node.constant) {
      const graph::Node& maker = graph.node(node.inputs[0].node);
      const bool fuses = maker.op() == ops::Op::conv2d || maker.op() == ops::Op::matmul;
      if (fuses && maker.uses.size() == 1) return 0;
    }
    return cost::AnalyticCost::op_us(graph, id);
  }
  std::vector<NodeId> dependents(const graph::Graph& graph, std::span<const NodeId> changed) const override {
    std::set<NodeId> all;
    for (const NodeId id : changed) {
      all.insert(id);
      for (const graph::Use& use : graph.node(id).uses) all.insert(use.user);
    }
    std::erase_if(all, [&](NodeId id) { return graph.node(id).constant; });
    return {all.begin(), all.end()};
  }
};

class Checked {
 public:
  Checked(const graph::Graph& graph, cost::CostModel& cost)
      : cost_(cost),
        start_{graph,
               rules::MatchIndex(shipped(), graph),
               graph::NameHash(graph),
               cost::graph_cost(cost, graph).runtime_us,
               0,
               nullptr},
        walk_(start_, cost, cost, 1 << 30, [] { return true; }) {}

  // Random rewrites; back to the start now and then.
  void walk(int moves, uint64_t seed) {
    Rng rng({seed});
    const Walk::Mark mark = walk_.mark();
    for (int k = 0; k < moves && !testing::Test::HasFailure(); ++k) {
      if (k % 200 == 199 || walk_.places().empty()) walk_.restore(mark);
      check();
      const size_t chosen = rng.below(walk_.places().size());
      const auto& move = *walk_.places()[chosen].move;
      const uint64_t hash = walk_.hash() + move.delta_hash;
      if (walk_.take(chosen)) {
        EXPECT_EQ(walk_.hash(), hash);
      }
    }
    EXPECT_NEAR(walk_.cost_us(), cost::graph_cost(cost_, walk_.graph()).runtime_us, 1e-6 * start_.cost_us);
    walk_.graph().validate();
    EXPECT_EQ(replay(start_.graph, shipped(), to_trace(walk_.trail().get())).hash(), walk_.graph().hash());
  }
  double tried_fraction() const { return static_cast<double>(walk_.tried()) / static_cast<double>(checked_); }

 private:
  void check() {
    const Walk::Mark now = walk_.mark();
    const State state{now.graph, now.index, now.hash, now.cost_us, 0, nullptr};
    const auto steps = state.steps(1 << 30);
    ASSERT_EQ(steps.size(), walk_.places().size());
    Evaluator evaluate(state, cost_);
    for (size_t k = 0; k < steps.size(); ++k) {
      const Place& place = walk_.places()[k];
      ASSERT_EQ(place.step, steps[k]);
      const Child child = evaluate(steps[k]);
      ASSERT_NEAR(child.cost_us, walk_.cost_us() + place.move->delta_us, 1e-9 * start_.cost_us);
      ASSERT_EQ(child.hash, walk_.hash() + place.move->delta_hash);
      ++checked_;
    }
  }

  cost::CostModel& cost_;
  State start_;
  Walk walk_;
  int64_t checked_ = 0;
};

class WalkTest : public testing::TestWithParam<std::string> {};

TEST_P(WalkTest, KeepsWhatTryingAllFinds) {
  cost::AnalyticCost cost;
  Checked checked(small(GetParam()), cost);
  checked.walk(150, 3);
  if (GetParam() == "resnet50") {
    EXPECT_LT(checked.tried_fraction(), 0.25);
  }
}

TEST_P(WalkTest, KeepsItWherePricesDependOnSurroundings) {
  FusingCost cost;
  Checked(small(GetParam()), cost).walk(60, 4);
}

// Run by walk_nightly.py: minutes.
TEST_P(WalkTest, DISABLED_KeepsItForTwentyThousandMoves) {
  cost::AnalyticCost cost;
  Checked(small(GetParam()), cost).walk(20'000, 5);
}

INSTANTIATE_TEST_SUITE_P(Zoo, WalkTest,
                         testing::Values("toy_conv", "resnet18", "resnet50", "squeezenet1_1", "inception_v3", "bert"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace rlgo::search

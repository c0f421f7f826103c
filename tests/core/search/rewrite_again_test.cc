#include "core/search/rewrite_again.h"

#include <gtest/gtest.h>

#include "core/cost/analytic.h"
#include "core/graph/editor.h"
#include "core/search/windows.h"

namespace rlgo::search {
namespace {

using graph::Value;
using ops::Op;

// `copies` times the operators, the last one first, on x[64,64]; the sum of all.
graph::Graph towers(int copies, const std::vector<Op>& ops) {
  graph::Editor e("towers");
  const Value x = e.add_input("x", {ops::DType::f32, {64, 64}});
  Value sum = x;
  for (int k = 0; k < copies; ++k) {
    Value y = e.op(Op::add, {sum, x});
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) y = e.op(*op, {y});
    sum = e.op(Op::mul, {y, x});
  }
  e.add_output("y", sum);
  return *e.finish();
}

// Greedy descent makes a tanh of each relu of abs, and nothing can be done with that.
std::shared_ptr<const rules::RuleSet> greedy_in_the_way() {
  return rules::RuleSet::parse(R"(
rule greedy
  ?y = (relu (abs (neg ?x)))
  => ?y = (tanh (neg ?x))

rule aside
  ?y = (relu (abs (neg ?x)))
  => ?y = (sigmoid (abs (neg ?x)))

rule more
  ?y = (sigmoid (abs (neg ?x)))
  => ?y = (tanh ?x)
)",
                               "greedy.rules");
}

TEST(RewriteAgain, FindsWhatTheFirstRewritesStandInTheWayOf) {
  cost::AnalyticCost cost;
  const graph::Graph graph = towers(5, {Op::relu, Op::abs, Op::neg});
  const Problem problem{graph, greedy_in_the_way(), cost};
  const Options options{.budget = 100'000};
  Context context(problem, options);
  Windows windows(context);
  windows.run();
  EXPECT_TRUE(windows.best().places.empty());
  RewriteAgain again(context);
  again.adopt(windows.best());
  again.run(2000);
  const graph::Graph cheapest = towers(5, {Op::tanh});
  EXPECT_EQ(again.best().graph.hash(), cheapest.hash());
  EXPECT_EQ(replay(graph, problem.rules, to_trace(again.best().trail.get())).hash(), cheapest.hash());
}

TEST(RewriteAgain, HasNothingToDoWhereNothingWasDone) {
  cost::AnalyticCost cost;
  const graph::Graph graph = towers(1, {Op::relu, Op::abs, Op::neg});
  const Options options{.budget = 1000};
  const Problem problem{graph, greedy_in_the_way(), cost};
  Context context(problem, options);
  RewriteAgain again(context);
  EXPECT_FALSE(again.can_move());
  again.run();
  EXPECT_FALSE(again.ended());
  EXPECT_EQ(again.best().depth, 0);
}

// The second of the rewrites is made far from the first, and both lead to the last one.
TEST(Macro, IsFoundElsewhereThoughItsRewritesBeganApart) {
  const auto rules = rules::RuleSet::parse(R"(
rule above
  ?y = (sigmoid (relu ?x))
  => ?y = (relu (sigmoid ?x))

rule below
  ?y = (neg (abs ?x))
  => ?y = (neg ?x)

rule between
  ?y = (sigmoid (tanh ?x))
  => ?y = (tanh (sigmoid ?x))

rule last
  ?y = (sigmoid (neg ?x))
  => ?y = (abs ?x)
)",
                                           "apart.rules");
  cost::AnalyticCost cost;
  const graph::Graph graph = towers(3, {Op::sigmoid, Op::relu, Op::tanh, Op::neg, Op::abs});
  const Problem problem{graph, rules, cost};
  const Options options{.budget = 100'000};
  Context context(problem, options);
  Walk walk(*context.start(), cost, cost, 200, [] { return true; });
  const Walk::Mark start = walk.mark();
  const auto taken = play_trace(walk, {{0, 0}, {1, 0}, {2, 0}, {3, 0}});
  const Macro macro = connected(walk, start, taken, context.tolerance_us());
  ASSERT_EQ(macro.size(), 4u);
  EXPECT_EQ(macro[1].rule, 2);
  EXPECT_EQ(macro[2].rule, 1);
  EXPECT_EQ(spread(walk, macro, context.tolerance_us(), [] { return true; }), 2);
}

}  // namespace
}  // namespace rlgo::search

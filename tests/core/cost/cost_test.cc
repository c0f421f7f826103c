#include "core/cost/cost.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "tests/core/cost/graphs.h"

namespace rlgo::cost {
namespace {

TEST(Cost, SumsOverNodes) {
  ScriptedCost model({10.0, 3.0});
  const Cost cost = graph_cost(model, small_graph());
  EXPECT_EQ(cost.runtime_us, 13.0);
  EXPECT_EQ(cost.launches, 2.0);
  EXPECT_EQ(cost.flops, 2.0 * 4 * 8 * 16 + 4 * 16);
  EXPECT_EQ(cost.bytes, 4.0 * (4 * 8 + 8 * 16 + 4 * 16) + 4.0 * (2 * 4 * 16));
}

TEST(Cost, NodePartsByHand) {
  ScriptedCost model({10.0});
  const Graph g = small_graph();
  const Cost cost = node_cost(model, g, only(g, Op::relu));
  EXPECT_EQ(cost.runtime_us, 10.0);
  EXPECT_EQ(cost.peak_bytes, 2 * 4.0 * 64);
  EXPECT_EQ(cost.launches, 1.0);
  EXPECT_EQ(node_cost(model, g, only(g, Op::weight)).launches, 0.0);
}

TEST(Cost, ConstantsLeavesAndReshapesAreFree) {
  Editor e("g");
  const Value x = e.add_input("x", f32({2, 8}));
  const Value folded = e.op(Op::relu, {weight(e, {2, 8})});
  const Value view = e.op(Op::reshape, {x}, {{Attr::shape, Ints{2, 8}}});
  const Value half = e.op(Op::fill, {}, {{Attr::shape, Ints{}}, {Attr::value, 0.5}});
  const Graph g = finished(e, e.op(Op::add, {view, e.op(Op::mul, {folded, half})}));
  ScriptedCost model({7.0});
  EXPECT_EQ(graph_cost(model, g).runtime_us, 7.0);
  EXPECT_EQ(model.asked, 1u);
  EXPECT_FALSE(is_free(g.node(only(g, Op::add))));
  EXPECT_TRUE(is_free(g.node(only(g, Op::mul))));
  EXPECT_TRUE(is_free(g.node(only(g, Op::reshape))));
}

// x[100] lives all the time (400 B); a, b, sum are 400 B each. At `sum`, a and b are read while sum is written; at relu
// a is gone.
TEST(Cost, PeakMemoryByHand) {
  Editor e("g");
  const Value x = e.add_input("x", f32({100}));
  const Value a = e.op(Op::relu, {x});
  const Value b = e.op(Op::tanh, {a});
  const Graph g = finished(e, e.op(Op::exp, {e.op(Op::add, {a, b})}));
  ScriptedCost model({0.0});
  EXPECT_EQ(graph_cost(model, g).peak_bytes, 4 * 400.0);
}

TEST(Cost, PeakMemoryDropsBuffersThatAreRead) {
  Editor e("g");
  Value x = e.add_input("x", f32({100}));
  for (const Op op : {Op::relu, Op::tanh, Op::exp, Op::sigmoid}) x = e.op(op, {x});
  const Graph g = finished(e, x);
  ScriptedCost model({0.0});
  EXPECT_EQ(graph_cost(model, g).peak_bytes, 3 * 400.0);  // the input, one read, one written
}

// A reshape is a view: it adds nothing, and keeps what it shows alive.
TEST(Cost, PeakMemorySeesThroughReshape) {
  Editor e("g");
  const Value x = e.add_input("x", f32({100}));
  const Value view = e.op(Op::reshape, {e.op(Op::relu, {x})}, {{Attr::shape, Ints{10, 10}}});
  const Value tall = e.op(Op::exp, {view});
  const Graph g = finished(e, e.op(Op::add, {e.op(Op::tanh, {tall}), view}));
  ScriptedCost model({0.0});
  EXPECT_EQ(graph_cost(model, g).peak_bytes, 4 * 400.0);  // x, relu, then tanh and add (exp is gone)
}

// Two weights of 400 B are folded into one constant, and that alone is there when the graph runs.
TEST(Cost, PeakMemoryCountsFoldedWeights) {
  Editor e("g");
  const Value x = e.add_input("x", f32({100}));
  const Value folded = e.op(Op::add, {weight(e, {100}, 1), weight(e, {100}, 2)});
  const Graph g = finished(e, e.op(Op::add, {x, folded}));
  ScriptedCost model({0.0});
  EXPECT_EQ(graph_cost(model, g).peak_bytes, 3 * 400.0);
}

TEST(Cost, EmptyGraphIsFree) {
  ScriptedCost model({1.0});
  const Cost cost = graph_cost(model, Graph("empty"));
  EXPECT_EQ(cost.runtime_us, 0.0);
  EXPECT_EQ(cost.peak_bytes, 0.0);
}

TEST(Cost, SignatureNamesAttributesAndTypesOnly) {
  const Graph g = small_graph();
  EXPECT_EQ(signature(g, only(g, Op::matmul)), "matmul act=none (f32[4,8], f32[8,16])");
  EXPECT_EQ(signature(g, only(g, Op::relu)), "relu (f32[4,16])");
}

// A chain of random operators on one type, so that any value can stand for any other.
Graph random_graph(Rng& rng) {
  Editor e("g");
  std::vector<Value> values{e.add_input("x", f32({8, 8})), weight(e, {8, 8}, 1), weight(e, {8, 8}, 2)};
  const auto pick = [&] { return values[rng.below(values.size())]; };
  for (int i = 0; i < 12; ++i) {
    const Op unary[] = {Op::relu, Op::tanh, Op::exp};
    const Op binary[] = {Op::add, Op::mul, Op::matmul};
    values.push_back(rng.below(2) == 0 ? e.op(unary[rng.below(3)], {pick()})
                                       : e.op(binary[rng.below(3)], {pick(), pick()}));
  }
  e.add_output("y", values.back());
  e.add_output("z", pick());
  return *e.finish();
}

TEST(Cost, DeltaEqualsTheDifferenceOverRandomEdits) {
  Rng rng({5});
  AnalyticCost model;
  int edited = 0, constants_changed = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const Graph before = random_graph(rng);
    const auto pick = [&] { return Value{before.order()[rng.below(before.size())], 0}; };
    Editor e(before);
    Value to = pick();
    if (rng.below(3) == 0) to = e.op(Op::sigmoid, {to});
    if (rng.below(4) == 0) to = weight(e, {8, 8}, 3);
    e.replace(pick(), to);
    graph::Delta delta;
    const auto after = e.finish(&delta);
    if (!after) continue;
    ++edited;
    for (const NodeId id : delta.touched) constants_changed += before.node(id).constant != after->node(id).constant;
    const double expected = graph_cost(model, *after).runtime_us - graph_cost(model, before).runtime_us;
    ASSERT_NEAR(delta_us(model, before, *after, delta), expected, 1e-9) << trial;
  }
  EXPECT_GT(edited, 300);
  EXPECT_GT(constants_changed, 50);
}

}  // namespace
}  // namespace rlgo::cost

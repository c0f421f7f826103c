#include "core/graph/editor.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo::graph {
namespace {

using ops::Attr;
using ops::DType;
using ops::Op;
using ops::TensorType;

TensorType f32(ops::Shape shape) { return TensorType(DType::f32, std::move(shape)); }

// y = relu(x + w), z = sigmoid(x)
Graph small(const char* name = "small") {
  Editor e(name);
  const Value x = e.add_input("x", f32({2, 3}));
  const Value w = e.add_weight("w", Blob::seeded(f32({3}), 1, 0.1));
  e.add_output("y", e.op(Op::relu, {e.op(Op::add, {x, w})}));
  e.add_output("z", e.op(Op::sigmoid, {x}));
  auto g = e.finish();
  g->validate();
  return *g;
}

NodeId find(const Graph& g, Op op) {
  for (NodeId id : g.order()) {
    if (g.node(id).op() == op) return id;
  }
  return kNoNode;
}

TEST(Editor, OrdersByStructureNotByCreation) {
  Editor e("reversed");
  const Value w = e.add_weight("w", Blob::seeded(f32({3}), 1, 0.1));
  const Value x = e.add_input("x", f32({2, 3}));
  const Value z = e.op(Op::sigmoid, {x});
  e.add_output("y", e.op(Op::relu, {e.op(Op::add, {w, x})}));
  e.add_output("z", z);
  const auto g = e.finish();
  EXPECT_EQ(g->hash(), small().hash()) << "operands of add commute, creation order does not count";
  EXPECT_EQ(g->node(g->order()[0]).op(), Op::input);
  EXPECT_EQ(g->node(g->order().back()).op(), Op::sigmoid);
}

TEST(Editor, HashSeesOperandsAttributesWeightsAndOutputNames) {
  const auto build = [](int64_t axis, uint64_t seed, const char* out) {
    Editor e("g");
    const Value x = e.add_input("x", f32({2, 2}));
    const Value w = e.add_weight("w", Blob::seeded(f32({2, 2}), seed, 0.1));
    e.add_output(out, e.op(Op::concat, {x, w}, {{Attr::axis, axis}}));
    return e.finish()->hash();
  };
  EXPECT_EQ(build(0, 1, "y"), build(0, 1, "y"));
  EXPECT_NE(build(0, 1, "y"), build(1, 1, "y"));
  EXPECT_NE(build(0, 1, "y"), build(0, 2, "y"));
  EXPECT_NE(build(0, 1, "y"), build(0, 1, "out"));
}

TEST(Editor, EqualNodesAreOneNode) {
  Editor e("g");
  const Value x = e.add_input("x", f32({4}));
  EXPECT_EQ(e.op(Op::relu, {x}), e.op(Op::relu, {x}));
  EXPECT_NE(e.op(Op::relu, {x}), e.op(Op::tanh, {x}));
}

TEST(Editor, MisfitIsANormalAnswerWithAReason) {
  Editor e("g");
  const Value x = e.add_input("x", f32({2, 3}));
  const Value y = e.add_input("y", f32({2, 4}));
  std::string reason;
  const Value both[] = {x, y};
  EXPECT_FALSE(e.try_add(Op::add, both, {}, &reason).has_value());
  EXPECT_FALSE(reason.empty());
  EXPECT_THROW(e.add(Op::add, both), Error);
}

TEST(Editor, ReplaceReportsDeltaAndDropsDeadNodes) {
  const Graph g = small();
  const NodeId relu = find(g, Op::relu);
  const NodeId add = find(g, Op::add);
  Editor e(g);
  e.replace({relu, 0}, e.op(Op::tanh, {Value{add, 0}}));
  Delta delta;
  const auto after = e.finish(&delta);
  after->validate();
  EXPECT_EQ(delta.removed, std::vector<NodeId>{relu});
  ASSERT_EQ(delta.added.size(), 1u);
  EXPECT_EQ(after->outputs()[0].value, (Value{delta.added[0], 0}));
  EXPECT_EQ(delta.touched, std::vector<NodeId>{add});
  EXPECT_EQ(g.node(relu).op(), Op::relu) << "the original is untouched";
}

TEST(Editor, EditsAGraphThatIsGivenAway) {
  Graph g = small();
  const uint64_t hash = g.hash();
  const NodeId relu = find(g, Op::relu), add = find(g, Op::add), bound = g.id_bound();
  Editor copied(g);
  copied.replace({relu, 0}, copied.op(Op::tanh, {Value{add, 0}}));
  Editor moved(std::move(g));
  EXPECT_EQ(moved.first_new(), bound);
  moved.replace({relu, 0}, moved.op(Op::tanh, {Value{add, 0}}));
  Delta first, second;
  const auto a = copied.finish(&first), b = moved.finish(&second);
  b->validate();
  EXPECT_NE(b->hash(), hash);
  EXPECT_EQ(a->hash(), b->hash());
  EXPECT_EQ(first.added, second.added);
  EXPECT_EQ(first.touched, second.touched);
}

TEST(Editor, MergesReadersThatBecomeEqual) {
  Editor e("g");
  const Value x = e.add_input("x", f32({4}));
  const Value a = e.op(Op::relu, {x});
  const Value b = e.op(Op::abs, {x});
  e.add_output("p", e.op(Op::tanh, {e.op(Op::sigmoid, {a})}));
  e.add_output("q", e.op(Op::tanh, {e.op(Op::sigmoid, {b})}));
  const auto g = e.finish();
  EXPECT_EQ(g->size(), 7u);
  Editor edit(*g);
  edit.replace(b, a);
  const auto merged = edit.finish();
  merged->validate();
  EXPECT_EQ(merged->size(), 4u);
  EXPECT_EQ(merged->outputs()[0].value, merged->outputs()[1].value);
}

// Of a node with many readers a table finds those that are equal.
TEST(Editor, FindsEqualNodesAmongManyReaders) {
  Editor e("g");
  const NodeId parts = e.add(Op::split, std::vector<Value>{e.add_input("x", f32({200}))},
                             {{Attr::axis, int64_t{0}}, {Attr::sizes, ops::Ints(200, 1)}});
  std::vector<Value> values;
  for (int32_t k = 0; k < 200; ++k) values.push_back(e.op(Op::relu, {Value{parts, k}}));
  EXPECT_EQ(e.op(Op::relu, {Value{parts, 7}}), values[7]);
  e.add_output("y", {e.add(Op::concat, values, {{Attr::axis, int64_t{0}}}), 0});
  const Graph g = *e.finish();
  Editor edit(g);
  edit.replace({parts, 7}, {parts, 5});
  const Graph merged = *edit.finish();
  merged.validate();
  EXPECT_EQ(merged.size(), g.size() - 1);
}

TEST(Editor, ReplaceLeavesNodesAloneThatTheNewValueIsMadeOf) {
  Editor e("g");
  const Value x = e.add_input("x", f32({4}));
  const Value once = e.op(Op::relu, {x});
  const Value twice = e.op(Op::relu, {once});
  e.add_output("y", twice);
  e.add_output("z", e.op(Op::tanh, {once}));
  const auto g = e.finish();
  Editor edit(*g);
  const Value same = edit.op(Op::relu, {edit.op(Op::relu, {x})});
  EXPECT_EQ(same, twice);
  edit.replace(once, same);
  const auto after = edit.finish();
  ASSERT_TRUE(after.has_value()) << "relu(relu(x)) must not read itself";
  after->validate();
  EXPECT_EQ(after->node(after->outputs()[1].value.node).inputs[0], twice);
}

TEST(Editor, CycleIsRefused) {
  const Graph g = small();
  const NodeId add = find(g, Op::add);
  const NodeId relu = find(g, Op::relu);
  Editor e(g);
  e.replace({g.inputs()[0], 0}, {relu, 0});
  EXPECT_FALSE(e.finish().has_value()) << "add " << add << " would read its own reader";
}

TEST(Editor, ConstantPartsAreFoundAgainAfterAnEdit) {
  Editor e("g");
  const Value x = e.add_input("x", f32({2, 3}));
  const Value y = e.op(Op::relu, {e.op(Op::neg, {x})});
  e.add_output("y", y);
  const auto g = e.finish();
  Editor edit(*g);
  edit.replace({g->node(y.node).inputs[0]},
               edit.op(Op::fill, {}, {{Attr::shape, ops::Ints{2, 3}}, {Attr::value, 1.0}}));
  Delta delta;
  const auto after = edit.finish(&delta);
  EXPECT_TRUE(after->node(y.node).constant);
  EXPECT_EQ(delta.touched, (std::vector<NodeId>{g->inputs()[0], y.node}));
  EXPECT_EQ(after->inputs().size(), 1u) << "unread inputs of the graph are kept";
}

}  // namespace
}  // namespace rlgo::graph

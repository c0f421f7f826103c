#include "core/verify/folded_size.h"

#include "core/verify/constant_values.h"
#include "core/verify/fold.h"
#include "tests/core/verify/graphs.h"

namespace rlgo::verify {
namespace {

using graph::Editor;
using graph::Value;
using ops::DType;

constexpr int kAll = 1 << 20;  // no node is a rewrite's

Value weight(Editor& editor, const char* name, ops::Shape shape) {
  const auto count = static_cast<size_t>(ops::TensorType(DType::f32, shape).elements());
  return editor.add_weight(name, f32_blob(std::vector<float>(count, name[0]), std::move(shape)));
}

Value expanded(Editor& editor, Value value, Ints shape) {
  return editor.op(Op::expand, {value}, {{Attr::shape, std::move(shape)}});
}

// How many values of operators fold() computes.
int computed(const graph::Graph& graph, graph::NodeId first_new) {
  int count = 0;
  for (const auto& [id, blobs] : fold(graph, first_new)) count += graph.node(id).op() != Op::weight;
  return count;
}

// x + exp(expand(w)), of 4 KiB a tensor of 4 MiB.
graph::Graph bloated() {
  Editor editor("bloat");
  const auto x = editor.add_input("x", {DType::f32, {1024, 1024}});
  const auto wide = expanded(editor, weight(editor, "w", {1024}), {1024, 1024});
  editor.add_output("y", editor.op(Op::add, {x, editor.op(Op::exp, {wide})}));
  return *editor.finish();
}

TEST(FoldedSize, LargeResultsOfSmallWeightsStayOperators) {
  const auto graph = bloated();
  EXPECT_EQ(left_for_size(graph, {}, kAll).size(), 2u);
  EXPECT_EQ(computed(graph, kAll), 0);
  const auto loaded = fold_rounded_constants(graph, [](Value) { return std::string(); });
  for (const auto id : loaded.order()) {
    EXPECT_TRUE(loaded.node(id).op() != Op::weight || loaded.type({id, 0}).bytes() <= 4096);
  }
}

// The end of the chain is small.
TEST(FoldedSize, OfAChainTheEndCounts) {
  Editor editor("chain");
  const auto x = editor.add_input("x", {DType::f32, {1024}});
  const auto wide = editor.op(Op::sqrt, {expanded(editor, weight(editor, "w", {1024}), {1024, 1024})});
  const auto sum = editor.op(Op::reduce_sum, {wide}, {{Attr::axes, Ints{0}}, {Attr::keepdims, int64_t{0}}});
  editor.add_output("y", editor.op(Op::add, {x, sum}));
  const auto graph = *editor.finish();
  EXPECT_TRUE(left_for_size(graph, {}, kAll).empty());
  EXPECT_EQ(computed(graph, kAll), 1);
}

// One weight of 64 KiB, and its transposes as they are read: `copies` of them.
graph::Graph copied(int copies) {
  Editor editor("copies");
  const auto w = weight(editor, "w", {128, 128});
  for (int k = 0; k < copies; ++k) {
    const auto x = editor.add_input(fmt::format("x{}", k), {DType::f32, {128, 128}});
    const auto copy = editor.op(Op::mul, {w, editor.add_weight(fmt::format("s{}", k), f32_blob({2.0F + k}, {}))});
    editor.add_output(fmt::format("y{}", k), editor.op(Op::add, {x, copy}));
  }
  return *editor.finish();
}

TEST(FoldedSize, AWeightThatDisappearsPaysForOneCopy) {
  EXPECT_TRUE(left_for_size(copied(1), {}, kAll).empty());
  EXPECT_EQ(left_for_size(copied(4), {}, kAll).size(), 4u);  // the weight stays, for 4 x 64 KiB would be added
  EXPECT_EQ(computed(copied(4), kAll), 0);
}

// Rewrites may make a few times their weights, whatever else reads these.
TEST(FoldedSize, RewritesMayTakeTheirPart) {
  EXPECT_TRUE(left_for_size(copied(4), {}, 0).empty());
  EXPECT_EQ(left_for_size(bloated(), {}, 0).size(), 2u);  // 1,024 times the weight
}

TEST(FoldedSize, WhatNoMemoryHoldsIsNotComputed) {
  Editor editor("huge");
  const auto x = editor.add_input("x", {DType::f32, {1}});
  const auto huge = editor.op(Op::exp, {expanded(editor, weight(editor, "w", {1, 1}), {1 << 16, 1 << 16})});
  const auto sum = editor.op(Op::reduce_sum, {huge}, {{Attr::axes, Ints{0, 1}}, {Attr::keepdims, int64_t{0}}});
  editor.add_output("y", editor.op(Op::add, {x, sum}));
  const auto graph = *editor.finish();
  EXPECT_EQ(too_large(graph).size(), 3u);
  EXPECT_EQ(computed(graph, 0), 0);
}

}  // namespace
}  // namespace rlgo::verify

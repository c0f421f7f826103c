#include "core/verify/constant_values.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/verify/fold.h"
#include "tests/core/verify/graphs.h"

namespace rlgo::verify {
namespace {

using graph::Editor;
using graph::Value;
using ops::DType;

Value cast(Editor& editor, Value value, const char* to) {
  return editor.op(Op::cast, {value}, {{Attr::to, std::string(to)}});
}

std::string no_name(Value) { return {}; }

// x + (w - float(half(w))): what half cannot hold of w.
graph::Graph low_part(std::shared_ptr<const graph::Blob> w) {
  Editor editor("low");
  const auto x = editor.add_input("x", {DType::f32, {2}});
  const auto weight = editor.add_weight("w", std::move(w));
  const auto high = cast(editor, cast(editor, weight, "f16"), "f32");
  editor.add_output("y", editor.op(Op::add, {x, editor.op(Op::sub, {weight, high})}));
  return *editor.finish();
}

std::vector<float> only_constant(const graph::Graph& graph) {
  const auto blobs = fold(graph);
  EXPECT_EQ(blobs.size(), 1u);
  return floats_of(*blobs.begin()->second[0]);
}

TEST(ConstantValues, EachResultIsRoundedToItsType) {
  const auto graph = low_part(f32_blob({1 + 0x1p-12F, 2}, {2}));
  const auto rounded = fold_rounded_constants(graph, no_name);
  EXPECT_EQ(only_constant(rounded), (std::vector<float>{0x1p-12F, 0}));
  EXPECT_EQ(rounded.size(), 3u);  // x, the weight, the sum
}

TEST(ConstantValues, ProcessesWithoutContentsSeeTheSameGraph) {
  const auto blob = f32_blob({1 + 0x1p-12F, 2}, {2});
  const auto with = fold_rounded_constants(low_part(blob), no_name);
  const auto without =
      fold_rounded_constants(low_part(graph::Blob::absent(blob->type(), blob->content_hash())), no_name);
  EXPECT_EQ(with.hash(), without.hash());
  const auto other = fold_rounded_constants(low_part(f32_blob({1, 2}, {2})), no_name);
  EXPECT_NE(with.hash(), other.hash());
}

// x * (a / b), and x * mean(w): rules look at single numbers, so every process must have the same of them.
TEST(ConstantValues, SingleNumbersComeFromSingleNumbers) {
  const auto made = [](bool with_contents) {
    Editor editor("numbers");
    const auto x = editor.add_input("x", {DType::f32, {1}});
    const auto tensor = f32_blob({1, 2}, {2});
    const auto a = editor.add_weight("a", f32_blob({3}, {1})), b = editor.add_weight("b", f32_blob({4}, {1}));
    const auto w =
        editor.add_weight("w", with_contents ? tensor : graph::Blob::absent(tensor->type(), tensor->content_hash()));
    const auto mean = editor.op(Op::reduce_mean, {w}, {{Attr::axes, Ints{0}}, {Attr::keepdims, int64_t{1}}});
    const auto scaled = editor.op(Op::mul, {x, editor.op(Op::div, {a, b})});
    editor.add_output("y", editor.op(Op::mul, {scaled, mean}));
    return fold_rounded_constants(*editor.finish(), no_name);
  };
  const auto with = made(true), without = made(false);
  EXPECT_EQ(with.hash(), without.hash());
  for (const auto* graph : {&with, &without}) {
    int numbers = 0;
    for (const auto id : graph->order()) {
      const auto* blob = graph->node(id).info->blob.get();
      if (blob == nullptr || blob->type().elements() != 1) continue;
      ++numbers;
      EXPECT_TRUE(blob->available());
      EXPECT_EQ(floats_of(*blob), std::vector<float>{0.75F});
    }
    EXPECT_EQ(numbers, 1);
  }
}

// A mask of -1e6 is -infinity as a half; so is no sum of halves on the way to another, which some runtimes keep as
// float.
TEST(ConstantValues, CastsOverflowAndSumsOfHalvesAreLeft) {
  Editor editor("half");
  const auto x = editor.add_input("x", {DType::f16, {1}});
  const auto mask = cast(editor, editor.add_weight("m", f32_blob({-1e6F}, {1})), "f16");
  const auto a = cast(editor, editor.add_weight("a", f32_blob({40000}, {1})), "f16");
  const auto mean = editor.op(
      Op::div, {editor.op(Op::add, {a, a}), cast(editor, editor.add_weight("two", f32_blob({2}, {1})), "f16")});
  editor.add_output("masked", editor.op(Op::add, {x, mask}));
  editor.add_output("scaled", editor.op(Op::mul, {x, mean}));
  std::vector<double> found;
  for (const auto& [id, blobs] : fold(fold_rounded_constants(*editor.finish(), no_name)))
    found.push_back(numbers_of(Tensor::of(*blobs[0])).at(0));
  EXPECT_THAT(found, testing::UnorderedElementsAre(-std::numeric_limits<double>::infinity(), 40000));
}

TEST(ConstantValues, WhatOnlyMovesChoosesOrWidensNumbersStays) {
  Editor editor("exact");
  const auto x = editor.add_input("x", {DType::f32, {2, 3}});
  const auto w = editor.add_weight("w", f32_blob({1, 2, 3, 4, 5, 6}, {3, 2}));
  const auto moved = editor.op(Op::transpose, {w}, {{Attr::perm, Ints{1, 0}}});
  editor.add_output("y", editor.op(Op::mul, {x, editor.op(Op::max, {moved, editor.op(Op::neg, {moved})})}));
  const auto graph = *editor.finish();
  EXPECT_EQ(fold_rounded_constants(graph, no_name).hash(), graph.hash());
}

TEST(ConstantValues, NamesAreNewAndThoseThatAreGiven) {
  Editor editor("names");
  const auto x = editor.add_input("x", {DType::f32, {1}});
  const auto w = editor.add_weight("w", f32_blob({2}, {1}));
  const auto product = editor.op(Op::mul, {w, w});
  editor.add_output("y", editor.op(Op::add, {x, product}));
  const auto graph = fold_rounded_constants(*editor.finish(), [](Value) { return "x"; });
  std::vector<std::string> names;
  for (const auto id : graph.order()) names.push_back(graph.node(id).info->name);
  EXPECT_THAT(names, testing::Contains("x+"));
}

}  // namespace
}  // namespace rlgo::verify

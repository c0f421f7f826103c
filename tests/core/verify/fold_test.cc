#include "core/verify/fold.h"

#include <limits>

#include "core/base/error.h"
#include "core/verify/constant_values.h"
#include "tests/core/verify/graphs.h"

namespace rlgo::verify {
namespace {

using graph::Editor;
using ops::DType;

TEST(Fold, OnlyWhatOthersReadIsThere) {
  Editor editor("fold");
  const auto x = editor.add_input("x", {DType::f32, {2}});
  const auto a = editor.add_weight("a", f32_blob({1, 2}, {2})), b = editor.add_weight("b", f32_blob({10, 20}, {2}));
  const auto sum = editor.op(Op::add, {a, b}), scaled = editor.op(Op::mul, {sum, sum});
  editor.add_output("y", editor.op(Op::sub, {editor.op(Op::mul, {x, b}), scaled}));
  const graph::Graph graph = *editor.finish();
  const auto blobs = fold(graph);
  ASSERT_EQ(blobs.size(), 2u);
  EXPECT_EQ(floats_of(*blobs.at(scaled.node)[0]), (std::vector<float>{121, 484}));
  EXPECT_EQ(blobs.at(b.node)[0], graph.node(b.node).info->blob);  // a weight is its own blob
  const auto out = evaluate::Interpreter(graph).run({{"x", tensor_of({1, 1}, {2})}});
  EXPECT_EQ(numbers_of(out.at("y")), (std::vector<double>{-111, -464}));
}

// x + a b: the product is computed once, whatever else is in the graph.
graph::Graph with_product(float other) {
  Editor editor("known");
  const auto x = editor.add_input("x", {DType::f32, {2}});
  const auto a = editor.add_weight("a", f32_blob({3, 5}, {2})), b = editor.add_weight("b", f32_blob({7, 9}, {2}));
  const auto c = editor.add_weight("c", f32_blob({other, 1}, {2}));
  const auto sum = editor.op(Op::add, {editor.op(Op::add, {x, editor.op(Op::mul, {a, b})}), c});
  editor.add_output("y", sum);
  return *editor.finish();
}

TEST(Fold, KnownValuesAreNotComputedAgain) {
  FoldedBlobs known;
  const auto first = fold(with_product(1), 0, &known), second = fold(with_product(2), 0, &known);
  EXPECT_EQ(known.found(), 1);
  EXPECT_EQ(known.bytes(), 8);
  const auto is_product = [](const auto& one) { return floats_of(*one.second[0]) == std::vector<float>{21, 45}; };
  const auto a = std::ranges::find_if(first, is_product), b = std::ranges::find_if(second, is_product);
  ASSERT_TRUE(a != first.end() && b != second.end());
  EXPECT_EQ(a->second[0], b->second[0]);
}

TEST(Fold, WhatWasKeptFirstMakesRoom) {
  FoldedBlobs known(16);
  for (const uint64_t key : {1, 2, 3}) known.keep(key, {f32_blob({1, 2}, {2})});
  known.keep(4, {f32_blob({1, 2, 3, 4, 5}, {5})});  // more than all
  EXPECT_EQ(known.bytes(), 16);
  EXPECT_EQ(known.find(1), nullptr);
  EXPECT_NE(known.find(3), nullptr);
  EXPECT_EQ(known.find(4), nullptr);
}

TEST(Fold, HalvesTakeTwiceTheirBytes) {
  EXPECT_EQ(evaluate::held(DType::f16, Precision::wider), DType::f32);
  EXPECT_EQ(evaluate::held(DType::bf16, Precision::wider), DType::f32);
  EXPECT_EQ(evaluate::held(DType::f32, Precision::wider), DType::f64);
  Editor editor("halves");
  const auto half = [&](const char* name, float value) {
    return editor.add_weight(name, to_blob(tensor_of({value}, {1}), {DType::f16, {1}}));
  };
  // 2048 + 1 is no half, nor is 3 * 683: the result, rounded once, is 2049 - 2049.
  const auto sum = editor.op(Op::add, {half("a", 2048), half("b", 1)});
  const auto product = editor.op(Op::mul, {half("c", 3), half("d", 683)});
  editor.add_output("y", editor.op(Op::min, {sum, product}));
  const auto blobs = fold(*editor.finish());
  EXPECT_EQ(numbers_of(Tensor::of(*blobs.begin()->second[0])).at(0), 2048);
}

TEST(Fold, ConstantOutputsAndSeveralPorts) {
  Editor editor("ports");
  const auto w = editor.add_weight("w", f32_blob({1, 2, 3}, {3}));
  const auto parts = editor.add(Op::split, std::vector{w}, {{Attr::axis, int64_t{0}}, {Attr::sizes, Ints{1, 2}}});
  editor.add_output("tail", {parts, 1});
  const graph::Graph graph = *editor.finish();
  const auto blobs = fold(graph);
  ASSERT_EQ(blobs.at(parts).size(), 2u);
  EXPECT_EQ(floats_of(*blobs.at(parts)[0]), (std::vector<float>{1}));
  EXPECT_EQ(floats_of(*blobs.at(parts)[1]), (std::vector<float>{2, 3}));
  EXPECT_EQ(numbers_of(evaluate::Interpreter(graph).run({}).at("tail")), (std::vector<double>{2, 3}));
}

// x + (one + tiny - less).
graph::Graph shifted_by(float one, float tiny, float less) {
  Editor editor("rounding");
  const auto x = editor.add_input("x", {DType::f32, {1}});
  const auto weight = [&](const char* name, float value) { return editor.add_weight(name, f32_blob({value}, {1})); };
  const auto sum = editor.op(Op::add, {weight("one", one), weight("tiny", tiny)});
  editor.add_output("y", editor.op(Op::add, {x, editor.op(Op::sub, {sum, weight("less", less)})}));
  return *editor.finish();
}

TEST(Fold, RoundsOnceAtTheEnd) {
  // (1 + 2^-24) - 15/16 in f32 is 1/16; in double it is 1/16 + 2^-24.
  const auto folded = fold(shifted_by(1, 0x1p-24F, 0.9375F));
  ASSERT_EQ(folded.size(), 1u);
  EXPECT_EQ(floats_of(*folded.begin()->second[0]), (std::vector<float>{0.0625F + 0x1p-24F}));
}

TEST(Fold, NumbersThatCancelAreErrors) {
  EXPECT_THROW(fold(shifted_by(1, 0x1p-30F, 1)), Error);  // rounds what is added between
  EXPECT_THROW(fold(shifted_by(0x1p23F, 0.25F, 0x1p23F)), Error);
  EXPECT_NO_THROW(fold(shifted_by(0x1p23F, 0x1p22F, 0x1p23F)));
}

// A factor that a rewrite made of two: x * 1e25 * 1e25 is 0 for x = 0, x * infinity is not.
graph::Graph scaled_by(const std::vector<float>& a, const std::vector<float>& b) {
  Editor editor("range");
  const auto size = static_cast<int64_t>(a.size());
  const auto x = editor.add_input("x", {DType::f32, {size}});
  const auto factor =
      editor.op(Op::mul, {editor.add_weight("a", f32_blob(a, {size})), editor.add_weight("b", f32_blob(b, {size}))});
  editor.add_output("y", editor.op(Op::mul, {x, factor}));
  return *editor.finish();
}

TEST(Fold, ResultsOutsideTheRangeOfTheirTypeAreErrors) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_THROW(fold(scaled_by({1e25F}, {1e25F})), Error);
  EXPECT_THROW(fold(scaled_by({1e-25F, 1e-30F}, {1e-15F, 1e-15F})), Error);  // denormal, both
  EXPECT_THROW(fold(scaled_by({1e-25F, 1}, {1e-15F, 1})), Error);            // each number of a factor counts
  EXPECT_NO_THROW(fold(scaled_by({1e-40F, 1}, {1, 0.5F})));                  // the file's own
  EXPECT_NO_THROW(fold(scaled_by({0, 0}, {1, 1})));
  EXPECT_NO_THROW(fold(scaled_by({kInf, 1}, {1, 1})));  // the file's own
}

// Weights of a product: what vanishes next to the others counts for nothing.
TEST(Fold, SmallWeightsOfASumOfProductsMayVanish) {
  Editor editor("sum");
  const auto w = editor.op(Op::mul, {editor.add_weight("a", f32_blob({1e-25F, 1}, {2, 1})),
                                     editor.add_weight("b", f32_blob({1e-15F, 1}, {2, 1}))});
  editor.add_output("y", editor.op(Op::matmul, {editor.add_input("x", {DType::f32, {1, 2}}), w}));
  EXPECT_NO_THROW(fold(*editor.finish()));
}

TEST(Fold, KeepsIntegerTypes) {
  Editor editor("integers");
  const auto table = editor.add_input("table", {DType::f32, {4}});
  const auto ids =
      editor.op(Op::fill, {}, {{Attr::shape, Ints{2}}, {Attr::value, 3.0}, {Attr::to, std::string("i64")}});
  editor.add_output("y", editor.op(Op::gather, {table, ids}));
  const auto blob = fold(*editor.finish()).at(ids.node)[0];
  EXPECT_EQ(to_string(blob->type()), "i64[2]");
  EXPECT_EQ(numbers_of(Tensor::of(*blob)), (std::vector<double>{3, 3}));
}

// x (u v): 2 * 4000^3 operations.
TEST(Fold, MuchArithmeticIsLeftInTheModel) {
  Editor editor("much");
  const ops::TensorType square(DType::f32, {4000, 4000});
  const auto u = editor.add_weight("u", graph::Blob::seeded(square, 1, 1.0));
  const auto v = editor.add_weight("v", graph::Blob::seeded(square, 2, 1.0));
  const auto product = editor.op(Op::matmul, {u, v}), back = editor.op(Op::neg, {product});
  editor.add_output("y", editor.op(Op::matmul, {editor.add_input("x", {DType::f32, {1, 4000}}), back}));
  const graph::Graph graph = *editor.finish();
  EXPECT_EQ(left_unfolded(graph), (std::unordered_set<graph::NodeId>{product.node, back.node}));
  const auto blobs = fold(graph);
  EXPECT_EQ(blobs.size(), 2u);
  EXPECT_TRUE(blobs.contains(u.node) && blobs.contains(v.node));
  EXPECT_EQ(fold_rounded_constants(graph, [](graph::Value) { return std::string(); }).hash(), graph.hash());
}

}  // namespace
}  // namespace rlgo::verify

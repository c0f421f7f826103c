// Arithmetic on constants: what a file computes from numbers that it holds.
#include <cmath>
#include <limits>

#include "core/onnx/constant.h"
#include "core/onnx/onnx_node.h"
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io {
namespace {

using ops::DType;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Constant numbers(DType dtype, std::vector<double> values) {
  Constant constant{{dtype, {static_cast<int64_t>(values.size())}}, {}, {}};
  if (constant.is_float())
    constant.floats = std::move(values);
  else
    constant.ints.assign(values.begin(), values.end());
  return constant;
}

std::optional<Constant> computed(const char* op, const std::vector<Constant>& inputs, DType to = DType::f32,
                                 std::map<std::string, OnnxAttr> attrs = {}) {
  OnnxNode node;
  node.op = op;
  node.opset = 18;
  node.attrs = std::move(attrs);
  node.outputs = {"y"};
  node.output_types = {{to, inputs[0].type.shape}};
  for (const Constant& input : inputs) {
    node.inputs.push_back({0, 0});
    node.input_types.push_back(input.type);
    node.constants.push_back(&input);
  }
  return evaluate(node);
}

std::vector<double> floats(const char* op, DType dtype, const std::vector<std::vector<double>>& inputs) {
  std::vector<Constant> constants;
  for (const auto& values : inputs) constants.push_back(numbers(dtype, values));
  const auto result = computed(op, constants, dtype);
  return result ? result->floats : std::vector<double>();
}

Ints ints(const char* op, DType dtype, const std::vector<std::vector<double>>& inputs) {
  std::vector<Constant> constants;
  for (const auto& values : inputs) constants.push_back(numbers(dtype, values));
  const auto result = computed(op, constants, dtype);
  return result ? result->ints : Ints();
}

TEST(Evaluate, FloatsAreRoundedAsTheirTypeIs) {
  EXPECT_EQ(floats("Ceil", DType::f32, {{1.25, -1.25, 3}}), (std::vector<double>{2, -1, 3}));
  EXPECT_EQ(floats("Round", DType::f32, {{0.5, 1.5, 2.5, -0.5, -1.5, 1.75}}), (std::vector<double>{0, 2, 2, 0, -2, 2}));
  EXPECT_EQ(floats("Div", DType::f32, {{1}, {3}}), (std::vector<double>{static_cast<double>(1.0F / 3.0F)}));
  EXPECT_EQ(floats("Div", DType::f64, {{1}, {3}}), (std::vector<double>{1.0 / 3.0}));
  EXPECT_EQ(floats("Add", DType::f16, {{2048}, {1}}), (std::vector<double>{2048}));  // halves there are even
  EXPECT_EQ(floats("Mul", DType::bf16, {{257, 3}, {1, 0.5}}), (std::vector<double>{256, 1.5}));
  EXPECT_EQ(floats("Sqrt", DType::f32, {{2}}), (std::vector<double>{static_cast<double>(std::sqrt(2.0F))}));
  EXPECT_EQ(floats("Sum", DType::f32, {{1}, {2}, {4}}), (std::vector<double>{7}));
  EXPECT_EQ(floats("Max", DType::f32, {{1, 5}, {2, 4}, {0, 6}}), (std::vector<double>{2, 6}));
  EXPECT_EQ(floats("Reciprocal", DType::f32, {{4}}), (std::vector<double>{0.25}));
}

TEST(Evaluate, IntegersOfAnyWidth) {
  EXPECT_EQ(ints("Add", DType::u8, {{250}, {5}}), (Ints{255}));
  EXPECT_EQ(ints("Div", DType::i32, {{-7, 7}, {2, 2}}), (Ints{-3, 3}));
  EXPECT_EQ(ints("Mod", DType::i64, {{-7, 7}, {3, -3}}), (Ints{2, -2}));
  EXPECT_EQ(ints("Pow", DType::i64, {{3}, {4}}), (Ints{81}));
  EXPECT_EQ(ints("Min", DType::i16, {{3, -4}, {2, 2}}), (Ints{2, -4}));
  EXPECT_EQ(ints("Sign", DType::i64, {{-3, 0, 9}}), (Ints{-1, 0, 1}));
  EXPECT_EQ(ints("BitwiseAnd", DType::i32, {{6}, {3}}), (Ints{2}));
  EXPECT_EQ(ints("Xor", DType::boolean, {{1, 1}, {1, 0}}), (Ints{0, 1}));
}

// Runtimes wrap, saturate or fail.
TEST(Evaluate, WhatRuntimesDifferInStays) {
  EXPECT_TRUE(ints("Add", DType::u8, {{250}, {6}}).empty());
  EXPECT_TRUE(ints("Neg", DType::i8, {{-128}}).empty());
  EXPECT_TRUE(ints("Div", DType::i64, {{1}, {0}}).empty());
  EXPECT_TRUE(floats("Max", DType::f32, {{kNan}, {1}}).empty());
  EXPECT_TRUE(floats("Min", DType::f32, {{0.0}, {-0.0}}).empty());
  EXPECT_FALSE(computed("Cast", {numbers(DType::f32, {300})}, DType::u8));
  EXPECT_FALSE(computed("Cast", {numbers(DType::f32, {kNan})}, DType::i64));
  EXPECT_FALSE(computed("Exp", {numbers(DType::f32, {1})}));
}

TEST(Evaluate, ComparisonsCastsAndBounds) {
  EXPECT_EQ(computed("Less", {numbers(DType::f32, {1, kNan}), numbers(DType::f32, {2, 2})}, DType::boolean)->ints,
            (Ints{1, 0}));
  EXPECT_EQ(computed("Cast", {numbers(DType::f32, {-2.75, 3.5})}, DType::i8)->ints, (Ints{-2, 3}));
  EXPECT_EQ(computed("Cast", {numbers(DType::i64, {2049})}, DType::f16)->floats, (std::vector<double>{2048}));
  EXPECT_EQ(computed("Cast", {numbers(DType::f64, {0.5, 0})}, DType::boolean)->ints, (Ints{1, 0}));
  const Constant low{{DType::i64, {}}, {0}, {}}, high{{DType::i64, {}}, {6}, {}};
  EXPECT_EQ(computed("Clip", {numbers(DType::i64, {-3, 4, 9}), low, high}, DType::i64)->ints, (Ints{0, 4, 6}));
  EXPECT_EQ(computed("Mod", {numbers(DType::f32, {-5.5}), numbers(DType::f32, {2})}, DType::f32, {{"fmod", int64_t{1}}})
                ->floats,
            (std::vector<double>{-1.5}));
}

TEST(Evaluate, TileAndConcatAlongAnyAxis) {
  const Constant square{{DType::i64, {2, 2}}, {1, 2, 3, 4}, {}};
  EXPECT_EQ(computed("Concat", {square, square}, DType::i64, {{"axis", int64_t{1}}})->ints,
            (Ints{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(computed("Tile", {square, numbers(DType::i64, {1, 2})}, DType::i64)->ints, (Ints{1, 2, 1, 2, 3, 4, 3, 4}));
}

// TensorFlow's SAME padding: ceil(size / stride), in floats.
TEST(Evaluate, PaddingByCeilIsKnown) {
  const auto model = test::import_text(
      "g (float[1,1,7,7] x) => (float[1,1,p,p] y) <int64[1] axis = {2}, float stride = {2.0}, int64[4] front = "
      "{0,0,0,0}, "
      "int64[2] zero = {0,0}> { s = Shape(x) e = Gather(s, axis) f = Cast <to = 1> (e) d = Div(f, stride) "
      "c = Ceil(d) i = Cast <to = 7> (c) z = Concat <axis = 0> (front, zero, i, i) y = Pad(x, z) }");
  EXPECT_TRUE(model.report.opaque.empty()) << model.report.summary();
}

}  // namespace
}  // namespace rlgo::onnx_io

// Rewrites of quantised models.
#include "core/onnx/quantised.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/onnx/validate.h"
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

// "2: Exp Relu": the changes that a rewrite made, and the operators after it.
std::string after(const std::string& rewrite, const std::string& nodes, const std::string& constants,
                  const std::string& in = "float[4] x", const std::string& out = "float[4] y", int opset = 17) {
  auto model = parse(
      "g (" + in + ") => (" + out + ") <float s = {0.5}, float t = {0.25}" + constants + "> {" + nodes + "}", opset);
  const auto expected = look_at_quantised(model).matches[rewrite];
  const auto changes = rewrite_quantised(model, {rewrite});
  EXPECT_EQ(expected, std::ranges::count(changes, rewrite, &Change::detail));
  validate_model(model);                   // brings the operators into order
  const auto again = import_proto(model);  // a valid model still
  return fmt::format("{}: {}", changes.size(), op_types(model));
}

const char* const kZeros = ", uint8 z = {0}, uint8 c = {128}, int8 n = {-128}";
const std::string kPair = "q = QuantizeLinear(x, s, c) d = DequantizeLinear(q, s, c) ";

TEST(Quantised, PairsOfOneQuantisationAreDead) {
  EXPECT_EQ(after("dead-quantised", kPair + "p = QuantizeLinear(d, s, c) y = DequantizeLinear(p, s, c)", kZeros),
            "1: QuantizeLinear DequantizeLinear");
  EXPECT_EQ(after("dead-quantised", kPair + "p = QuantizeLinear(d, t, c) y = DequantizeLinear(p, t, c)", kZeros),
            "0: QuantizeLinear DequantizeLinear QuantizeLinear DequantizeLinear");
  EXPECT_EQ(after("dead-quantised", kPair + "p = QuantizeLinear(d, s, z) y = DequantizeLinear(p, s, z)", kZeros),
            "0: QuantizeLinear DequantizeLinear QuantizeLinear DequantizeLinear");
}

TEST(Quantised, ReluInFrontOfTheLeastZeroPointIsDead) {
  const auto relu = [](const std::string& zero) {
    return after("dead-quantised",
                 "r = Relu(x) q = QuantizeLinear(r, s, " + zero + ") y = DequantizeLinear(q, s, " + zero + ")", kZeros);
  };
  EXPECT_EQ(relu("z"), "1: QuantizeLinear DequantizeLinear");
  EXPECT_EQ(relu("n"), "1: QuantizeLinear DequantizeLinear");
  EXPECT_EQ(relu("c"), "0: Relu QuantizeLinear DequantizeLinear");
  EXPECT_EQ(after("dead-quantised", "q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) r = Relu(d) y = Exp(r)",
                  kZeros),
            "1: QuantizeLinear DequantizeLinear Exp");
}

TEST(Quantised, ClipBeyondTheRangeIsDead) {
  const auto clip = [](const std::string& bounds) {
    return after("dead-quantised", "r = Clip(x, l, h) q = QuantizeLinear(r, s, c) y = DequantizeLinear(q, s, c)",
                 kZeros + bounds);  // from -64 to 63.5
  };
  EXPECT_EQ(clip(", float l = {-64}, float h = {63.5}"), "1: QuantizeLinear DequantizeLinear");
  EXPECT_EQ(clip(", float l = {-64}, float h = {63}"), "0: Clip QuantizeLinear DequantizeLinear");
}

TEST(Quantised, MovesWorkOnIntegers) {
  EXPECT_EQ(after("quantised-moves",
                  kPair + "m = Transpose(d) p = QuantizeLinear(m, s, c) y = DequantizeLinear(p, s, c)", kZeros),
            "2: QuantizeLinear Transpose DequantizeLinear");
  EXPECT_EQ(after("quantised-moves",
                  "e = Exp(x) m = Transpose(e) q = QuantizeLinear(m, s, c) y = DequantizeLinear(q, s, c)", kZeros),
            "1: Exp QuantizeLinear Transpose DequantizeLinear");
  EXPECT_EQ(
      after("quantised-moves", kPair + "m = Concat<axis = 0>(d, x) y = Exp(m)", kZeros, "float[4] x", "float[8] y"),
      "0: QuantizeLinear DequantizeLinear Concat Exp");
}

TEST(Quantised, ConstantWeightsChangeTheirType) {
  const std::string weights = ", uint8[2,2] w = {0, 127, 128, 255}, uint8 v = {3}, uint8[2,2] a = {1, 2, 3, 4}";
  const std::string nodes = "q = QuantizeLinear(x, s, z) y = MatMulInteger(q, w, z, v)";
  auto model =
      parse("g (float[2,2] x) => (int32[2,2] y) <float s = {0.5}, uint8 z = {0}" + weights + "> {" + nodes + "}");
  EXPECT_EQ(look_at_quantised(model).saturating.count("s8-weights-matmul-integer"), 1U);
  ASSERT_EQ(rewrite_quantised(model, {"s8-weights-matmul-integer"}).size(), 1U);
  const auto& product = model.graph().node(1);
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.name() == product.input(1)) EXPECT_EQ(tensor.raw_data(), std::string("\x80\xff\0\x7f", 4));
    if (tensor.name() == product.input(3)) EXPECT_EQ(tensor.raw_data(), "\x83");
  }
  EXPECT_EQ(product.input(2), "z") << "activations stay";
}

TEST(Quantised, ActivationsChangeTheirTypeTogetherOrNotAtAll) {
  const std::string one = "q = QuantizeLinear(x, s, n) m = Transpose(q) y = DequantizeLinear(m, s, n)";
  EXPECT_EQ(after("u8-activations", one, kZeros), "2: QuantizeLinear Transpose DequantizeLinear");
  EXPECT_EQ(after("u8-activations", one + " k = Cast<to = 1>(m) y2 = Exp(k)", kZeros, "float[4] x",
                  "float[4] y, float[4] y2"),
            "0: QuantizeLinear Transpose DequantizeLinear Cast Exp");
  EXPECT_EQ(after("u8-activations", "y = DequantizeLinear(x, s, n)", kZeros, "int8[4] x"), "0: DequantizeLinear");
}

TEST(Quantised, ClipMovesBehindTheQuantisation) {
  const std::string rest = " q = QuantizeLinear(r, s, c) y = DequantizeLinear(q, s, c)";
  EXPECT_EQ(after("clip-behind-quantise", "r = Relu(x)" + rest, kZeros), "1: QuantizeLinear Clip DequantizeLinear");
  EXPECT_EQ(after("clip-behind-quantise", "r = Relu(x)" + rest + " y2 = Exp(r)", kZeros, "float[4] x",
                  "float[4] y, float[4] y2"),
            "0: Relu QuantizeLinear DequantizeLinear Exp");
}

}  // namespace
}  // namespace rlgo::onnx_io::test

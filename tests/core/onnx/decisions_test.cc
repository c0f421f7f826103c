// What rounding decides about stays as it is.
#include <gmock/gmock.h>

#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

std::string ops_of_net(const std::string& nodes, const std::string& weights = "float three = {3.0}") {
  return ops_of(import_text("g (float[1,1,4,4] x) => (float[] y) <" + weights + "> { " + nodes + " }"));
}

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Decisions, WhatAFloorReadsIsFixed) {
  const auto ops = ops_of_net("d = Div(x, three) s = Add(d, d) y = Floor(s)");
  EXPECT_THAT(ops, HasSubstr("fixed div("));
  EXPECT_THAT(ops, HasSubstr("fixed add("));
}

TEST(Decisions, WhatNothingDecidesByIsNot) {
  EXPECT_THAT(ops_of_net("d = Div(x, three) y = Add(d, d) f = Floor(x)"), Not(HasSubstr("fixed")));
}

TEST(Decisions, OperatorsThatRoundNothingAreNot) {
  EXPECT_THAT(ops_of_net("d = Div(x, three) r = Relu(d) y = Floor(r)"), HasSubstr("= relu("));
}

TEST(Decisions, ComparisonsAreThemselves) {
  const auto ops = ops_of_net("d = Mul(x, three) c = Less(d, x) y = Where(c, x, d)");
  EXPECT_THAT(ops, HasSubstr("fixed mul("));
  EXPECT_THAT(ops, HasSubstr("fixed less("));
}

// `one` and 15 other weights, each a little larger.
std::string kernel(double one, double more) {
  std::string text = "float[16,1,1,1] w = {";
  for (int k = 0; k < 16; ++k) text += (k > 0 ? "," : "") + std::to_string(one + k * more);
  return text + "}";
}

TEST(Decisions, WeightsLikeNumbersDrawnAtRandomEndThem) {
  const std::string nodes = "d = Div(x, three) k = Conv(d, w) m = Mul(k, three) y = Floor(m)";
  const auto ops = [&](double one, double more) {
    return ops_of_net(nodes, "float three = {3.0}, " + kernel(one, more));
  };
  EXPECT_THAT(ops(0.3, 0.0137), Not(HasSubstr("fixed")));
  EXPECT_THAT(ops(2, 1), HasSubstr("fixed conv2d("));         // whole numbers
  EXPECT_THAT(ops(0.1, 0), HasSubstr("fixed conv2d("));       // a mean
  EXPECT_THAT(ops(0.5, 0.0625), HasSubstr("fixed conv2d("));  // a blur
}

TEST(Decisions, ABiasIsNoSuchWeight) {
  EXPECT_THAT(ops_of_net("d = Div(x, three) k = Conv(d, w, b) y = Floor(k)",
                         "float three = {3.0}, float[1,1,1,1] w = {2.0}, float[1] b = {0.3}"),
              HasSubstr("fixed conv2d("));
}

TEST(Decisions, WeightsThatAreWorkedOutCountAsWhatTheyAreMadeOf) {
  const std::string nodes =
      "t = Transpose<perm = [1, 0, 2, 3]>(w) d = Div(x, three) k = ConvTranspose(d, t) y = Floor(k)";
  EXPECT_THAT(ops_of_net(nodes, "float three = {3.0}, " + kernel(2, 1)), HasSubstr("fixed div("));
}

TEST(Decisions, AreFollowedIntoBranchesThatTakeTheirIfsPlace) {
  const std::string branches =
      " <then_branch = t () => (float[] p) { h = Div(x, three) p = Add(h, h) }, "
      "else_branch = e () => (float[] q) { q = Exp(x) }> ";
  const std::string weights = "float three = {3.0}, bool c = {1}";
  EXPECT_THAT(ops_of_net("i = If(c)" + branches + "y = Floor(i)", weights), HasSubstr("fixed div("));
  EXPECT_THAT(ops_of_net("y = If(c)" + branches, weights), Not(HasSubstr("fixed")));
}

// A step as exporters write it for runtimes without comparisons.
TEST(Decisions, ASlopeOfThousandsThatEndsFlatIsAStep) {
  const std::string weights =
      "float three = {3.0}, float million = {1000000.0}, float ten = {10.0}, float small = {0.000001}, "
      "float half = {0.5}, float none = {0.0}, float one = {1.0}";
  for (const std::string slope : {"m = Mul(s, million)", "m = Mul(million, s)", "m = Div(s, small)",
                                  "m = Mul(s, c) c = Constant<value = float {1000000.0}>()"}) {
    for (const std::string end :
         {"y = Clip(a, none, one)", "y = Sigmoid(a)", "r = Neg(a) y = Tanh(r)", "y = Min(a, one)"}) {
      EXPECT_THAT(ops_of_net("d = Div(x, three) s = Add(d, half) " + slope + " a = Add(m, half) " + end, weights),
                  HasSubstr("fixed div("))
          << slope << end;
    }
  }
  const std::string start = "d = Div(x, three) s = Add(d, half) ";
  EXPECT_THAT(ops_of_net(start + "m = Mul(s, ten) y = Clip(m, none, one)", weights), Not(HasSubstr("fixed")));
  EXPECT_THAT(ops_of_net(start + "m = Mul(s, million) y = Neg(m)", weights), Not(HasSubstr("fixed")));
}

TEST(Decisions, TheReportCountsThem) {
  const auto model = import_text(
      "g (float[4] x) => (float[4] y) <float three = {3.0}> { d = Div(x, three) e = Mul(d, d) y = Ceil(e) }");
  EXPECT_EQ(model.report.fixed, 3);
  EXPECT_THAT(model.report.summary(), HasSubstr("3 that could be rewritten are not"));
}

// d = x / 3 - c, and what is made of it.
bool fixes_difference(const std::string& nodes, const std::string& more = "float none = {0.0}") {
  const std::string weights = "float three = {3.0}, float c = {2.0}, float half = {0.5}, float two = {2.0}, " + more;
  return ops_of_net("q = Div(x, three) d = Sub(q, c) " + nodes, weights).find("fixed div(") != std::string::npos;
}

TEST(Decisions, PolesAndEdgesAre) {
  EXPECT_TRUE(fixes_difference("y = Div(two, d)"));
  EXPECT_TRUE(fixes_difference("y = Reciprocal(d)"));
  EXPECT_TRUE(fixes_difference("y = Log(d)"));
  EXPECT_TRUE(fixes_difference("r = Relu(d) y = Sqrt(r)"));
  EXPECT_TRUE(fixes_difference("y = Pow(d, half)"));
  EXPECT_TRUE(fixes_difference("m = Mul(d, three) n = Neg(two) y = Pow(m, n)"));
  EXPECT_FALSE(fixes_difference("y = Pow(d, two)"));
  EXPECT_FALSE(fixes_difference("y = Div(d, two)"));
}

TEST(Decisions, WhatIsKeptAwayFromAPoleIsFree) {
  EXPECT_FALSE(fixes_difference("e = Exp(d) y = Div(two, e)"));
  EXPECT_FALSE(fixes_difference("e = Exp(d) f = Add(e, two) y = Log(f)"));
  EXPECT_FALSE(fixes_difference("m = Max(d, half) y = Log(m)"));
  EXPECT_FALSE(fixes_difference("m = Clip(d, half) y = Reciprocal(m)"));
  EXPECT_FALSE(fixes_difference("a = Abs(d) s = Add(a, half) y = Div(x, s)"));
  EXPECT_FALSE(fixes_difference("s = Mul(d, d) m = ReduceMean(s) y = Sqrt(m)"));
  EXPECT_TRUE(fixes_difference("s = Mul(d, d) m = ReduceMean(s) r = Sqrt(m) y = Div(x, r)"));
  EXPECT_TRUE(fixes_difference("m = Max(d, none) y = Log(m)"));
}

// x - mean over the root of its variance; softmax written out; a norm of the input itself.
TEST(Decisions, NormsAndSoftmaxWrittenOutAreFree) {
  const std::string weights = "float three = {3.0}, float tiny = {0.00001}, float two = {2.0}";
  const auto free = [&](const std::string& nodes) { return ops_of_net("h = Div(x, three) " + nodes, weights); };
  EXPECT_THAT(free("m = ReduceMean<axes = [3]>(h) d = Sub(h, m) p = Pow(d, two) v = ReduceMean<axes = [3]>(p) "
                   "a = Add(v, tiny) r = Sqrt(a) y = Div(d, r)"),
              Not(HasSubstr("fixed")));
  EXPECT_THAT(free("m = ReduceMax<axes = [3]>(h) d = Sub(h, m) e = Exp(d) s = ReduceSum(e) y = Div(e, s) z = Log(s)"),
              Not(HasSubstr("fixed")));
  EXPECT_THAT(free("p = Mul(h, h) s = ReduceSum(p) r = Sqrt(s) y = Div(h, r)"), Not(HasSubstr("fixed")));
}

// What the sums read is no constant: rounding is relative to it, whatever it is.
TEST(Decisions, SumsThatTakeAwayWhatTheyAddAre) {
  const auto ops = [](const std::string& nodes) {
    return ops_of(
        import_text("g (float[4,4] x, float[4,4] b) => (float[] y) <float two = {2.0}, float[4,4] w = {1.0, "
                    "2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}> { " +
                    nodes + " }"));
  };
  EXPECT_THAT(ops("s = Add(x, b) y = Sub(s, b)"), AllOf(HasSubstr("fixed add("), HasSubstr("fixed sub(")));
  EXPECT_THAT(ops("d = Sub(b, x) y = Sub(b, d)"), HasSubstr("fixed sub("));
  EXPECT_THAT(ops("t = Add(b, b) s = Add(x, t) m = Mul(b, two) y = Sub(s, m)"), HasSubstr("fixed add("));
  EXPECT_THAT(ops("s = Add(x, b) p = MatMul(s, w) q = MatMul(b, w) y = Sub(p, q)"), HasSubstr("fixed matmul("));
  EXPECT_THAT(ops("r = Relu(b) s = Add(x, r) q = Relu(b) y = Sub(s, q)"), HasSubstr("fixed add("));
  EXPECT_THAT(ops("s = Add(x, b) t = Transpose(s) u = Transpose(b) y = Sub(t, u)"), HasSubstr("fixed sub("));
  EXPECT_THAT(ops("s = Add(x, b) p = MatMul(s, w) q = MatMul(w, b) y = Sub(p, q)"), Not(HasSubstr("fixed")));
  EXPECT_THAT(ops("s = Add(x, b) r = Add(s, b) m = Mul(b, two) y = Add(r, m)"), Not(HasSubstr("fixed")));
}

// What a token may look at, as transformers express it: of scores + m * 3e38 - 3e38 only the mask would be left.
TEST(Decisions, MasksAreNotMultipliedOut) {
  std::string weights =
      "float one = {1.0}, float ten = {10.0}, float big = {-10000.0}, float huge = {3.0e38}, "
      "float little = {0.00001}, float16 half = {64511}, float[4,4] w = {";
  for (int k = 0; k < 16; ++k) weights += (k > 0 ? "," : "") + std::to_string(0.3 + k * 0.0137);
  const auto ops = [&](const std::string& mask) {
    return ops_of(import_text("g (float[4,4] x, int64[4,4] m, float[4,4] f) => (float[] y) <" + weights +
                              "}> { c = Cast<to = 1>(m) " + mask +
                              " q = MatMul(x, w) a = Add(q, b) y = Softmax<axis = -1>(a) }"));
  };
  const auto fixed = [](const std::string& op) { return HasSubstr("fixed " + op + "("); };
  EXPECT_THAT(ops("r = Sub(one, c) b = Mul(r, big)"), AllOf(fixed("mul"), Not(fixed("sub")), Not(fixed("add"))));
  EXPECT_THAT(ops("r = Sub(one, f) b = Mul(big, r)"), fixed("mul"));
  EXPECT_THAT(ops("r = Sub(one, c) p = Mul(r, big) b = Transpose(p)"), fixed("mul"));
  EXPECT_THAT(ops("r = Sub(one, c) p = Mul(r, huge) b = Neg(p)"), fixed("mul"));
  EXPECT_THAT(ops("r = Sub(c, one) b = Div(r, little)"), fixed("div"));
  EXPECT_THAT(ops("p = Mul(c, huge) b = Sub(p, huge)"), AllOf(fixed("mul"), fixed("sub")));
  EXPECT_THAT(ops("r = Sub(one, c) k = Constant<value_float = -10000.0>() b = Mul(r, k)"), fixed("mul"));
  EXPECT_THAT(ops("h = Cast<to = 10>(m) p = Mul(h, half) d = Sub(p, half) b = Cast<to = 1>(d)"),  // half: -65504
              AllOf(fixed("mul"), fixed("sub")));
  EXPECT_THAT(ops("r = Sub(one, c) b = Mul(r, ten)"), Not(HasSubstr("fixed")));
  EXPECT_THAT(ops("p = MatMul(f, w) b = Mul(p, big)"), Not(HasSubstr("fixed")));  // no whole number but by chance
}

}  // namespace
}  // namespace rlgo::onnx_io::test

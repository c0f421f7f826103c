// What rounding decides about stays as it is.
#include <gmock/gmock.h>

#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

std::string ops_of_net(const std::string& nodes, const std::string& weights = "float three = {3.0}") {
  return ops_of(import_text("g (float[1,1,4,4] x) => (float[] y) <" + weights + "> { " + nodes + " }"));
}

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
  EXPECT_EQ(model.report.fixed, 2);
  EXPECT_THAT(model.report.summary(), HasSubstr("2 that could be rewritten are not"));
}

}  // namespace
}  // namespace rlgo::onnx_io::test

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

TEST(Decisions, WeightsThatAreNoWholeNumbersEndThem) {
  const std::string nodes = "d = Div(x, three) k = Conv(d, w) m = Mul(k, three) y = Floor(m)";
  EXPECT_THAT(ops_of_net(nodes, "float three = {3.0}, float[1,1,1,1] w = {0.3}"), Not(HasSubstr("fixed")));
  EXPECT_THAT(ops_of_net(nodes, "float three = {3.0}, float[1,1,1,1] w = {2.0}"), HasSubstr("fixed conv2d("));
}

TEST(Decisions, AreFollowedIntoBranchesThatTakeTheirIfsPlace) {
  const std::string branches =
      " <then_branch = t () => (float[] p) { h = Div(x, three) p = Add(h, h) }, "
      "else_branch = e () => (float[] q) { q = Exp(x) }> ";
  const std::string weights = "float three = {3.0}, bool c = {1}";
  EXPECT_THAT(ops_of_net("i = If(c)" + branches + "y = Floor(i)", weights), HasSubstr("fixed div("));
  EXPECT_THAT(ops_of_net("y = If(c)" + branches, weights), Not(HasSubstr("fixed")));
}

TEST(Decisions, TheReportCountsThem) {
  const auto model = import_text(
      "g (float[4] x) => (float[4] y) <float three = {3.0}> { d = Div(x, three) e = Mul(d, d) y = Ceil(e) }");
  EXPECT_EQ(model.report.fixed, 2);
  EXPECT_THAT(model.report.summary(), HasSubstr("2 that could be rewritten are not"));
}

}  // namespace
}  // namespace rlgo::onnx_io::test

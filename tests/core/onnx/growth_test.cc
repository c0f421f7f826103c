// Constants that the import computes: what of them is written.
#include "core/ops/folding.h"
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io {
namespace {

int count(const onnx::ModelProto& model, const std::string& op) {
  return static_cast<int>(std::ranges::count(model.graph().node(), op, [](const auto& n) { return n.op_type(); }));
}

onnx::ModelProto through(const std::string& body) { return test::export_proto(test::import_text(body)); }

TEST(Growth, LargeConstantsStayTheirOperators) {
  const auto model = through(
      "g (int64[60000] x) => (int64[60000] y) <int64 zero = {0}, int64 n = {60000}, int64 one = {1}> "
      "{ r = Range(zero, n, one) y = Add(x, r) }");
  EXPECT_EQ(count(model, "Range"), 1);
  EXPECT_LT(model.ByteSizeLong(), 1000u);
}

TEST(Growth, OfAChainTheEndCounts) {
  const auto model = through(
      "g (int64[2] x) => (int64[2] y) <int64 zero = {0}, int64 n = {60000}, int64 one = {1}, int64[2] at = {5,59999}> "
      "{ r = Range(zero, n, one) s = Mul(r, r) t = Gather(s, at) y = Add(x, t) }");
  EXPECT_EQ(count(model, "Range") + count(model, "Mul") + count(model, "Gather"), 0);
  ASSERT_EQ(model.graph().initializer_size(), 1);
  EXPECT_EQ(model.graph().initializer(0).dims(0), 2);
}

// Relative positions: what a chain of operators makes of large weights may be as large as these.
TEST(Growth, AChainTakesThePlaceOfTheWeightsThatItAloneReads) {
  std::string numbers = "-1";
  for (int k = 1; k < 4096; ++k) numbers += fmt::format(", {}", k % 7 - 3);
  const std::string weights = "<int64[4096] v = {" + numbers + "}, int64[4096] same = {" + numbers + "}> ";
  const std::string chain = "{ a = Abs(v) b = Min(a, same) c = Add(a, b) ";
  const auto alone = through("g (int64[4096] x) => (int64[4096] y) " + weights + chain + "y = Add(x, c) }");
  EXPECT_EQ(count(alone, "Abs") + count(alone, "Min"), 0);
  EXPECT_EQ(count(alone, "Add"), 1);
  EXPECT_EQ(alone.graph().initializer_size(), 1);
  const auto both =
      through("g (int64[4096] x) => (int64[4096] y) " + weights + chain + "d = Add(x, c) y = Mul(d, v) }");
  EXPECT_EQ(count(both, "Abs"), 1);
  EXPECT_EQ(both.graph().initializer_size(), 1);
}

// 100 constants of 4,000 bytes: a few are written, the others stay.
TEST(Growth, ManyConstantsShareTheBound) {
  std::string body = "g (int64[500] x) => (int64[500] y) <int64 n = {500}, int64 one = {1}> {\n", sum = "x";
  for (int k = 0; k < 100; ++k) {
    body += fmt::format("f{0} = Constant <value_int = {0}> () l{0} = Add(n, f{0}) r{0} = Range(f{0}, l{0}, one) ", k);
    body += fmt::format("s{} = Add({}, r{})\n", k, sum, k);
    sum = fmt::format("s{}", k);
  }
  const auto given = test::parse(body + "y = Identity(" + sum + ") }");
  const auto read = test::import_proto(given);
  const auto written = test::export_proto(read);
  EXPECT_LT(written.ByteSizeLong(), given.ByteSizeLong() + ops::kMostGrowth);
  EXPECT_GT(count(written, "Range"), 50);
  EXPECT_LT(count(written, "Range"), 100);
  // What rlgo wrote is read as the same graph.
  ImportOptions as_it_is;
  as_it_is.change_bodies = false;
  EXPECT_EQ(test::import_proto(written, as_it_is).graph.hash(), read.graph.hash());
}

TEST(Growth, OfBodiesToo) {
  const auto model = through(
      "g (bool c, int64[30000] x) => (int64[30000] y) { y = If(c) <then_branch = t () => (int64[30000] a) "
      "<int64 zero = {0}, int64 n = {30000}, int64 one = {1}> { r = Range(zero, n, one) a = Add(x, r) }, "
      "else_branch = e () => (int64[30000] b) { b = Neg(x) }> }");
  EXPECT_LT(model.ByteSizeLong(), 2000u);
}

// ONNX's inference passes on what it takes for shapes: 160 bytes a number.
TEST(Growth, InferenceHandsOnNoLargeConstants) {
  ImportOptions options;
  options.limits.memory_bytes = int64_t{500} << 20;
  const auto model = test::import_text(
      "g (float[1,4096] x) => (float[1,4096] y) <int64 zero = {0}, int64 n = {16777216}, int64 one = {1}, "
      "int64[2] square = {4096,4096}> { r = Range(zero, n, one) f = Cast <to = 1> (r) m = Reshape(f, square) "
      "y = MatMul(x, m) }",
      17, options);
  EXPECT_EQ(model.report.opaque.at("Range"), 1);
}

}  // namespace
}  // namespace rlgo::onnx_io

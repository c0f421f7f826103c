#include "core/verify/equivalence.h"

#include <limits>

#include "tests/core/verify/graphs.h"

namespace rlgo::verify {
namespace {

using graph::Editor;
using graph::Graph;
using ops::DType;

TEST(Equivalence, EqualGraphsHaveNoError) {
  const auto result = equivalence(linear_graph({1, 2, 3, 4}, {0, 0}), linear_graph({1, 2, 3, 4}, {0, 0}), 3, 1);
  EXPECT_TRUE(result.within(0.0));
  EXPECT_EQ(result.worst_output, "");
}

TEST(Equivalence, OnePlantedElementShows) {
  const auto result = equivalence(linear_graph({1, 2, 3, 4}, {0, 0}), linear_graph({1, 2, 3, 4.01f}, {0, 0}), 3, 1);
  EXPECT_TRUE(result.comparable);
  EXPECT_GT(result.max_rel_error, 1e-4);
  EXPECT_LT(result.max_rel_error, 1e-1);
  EXPECT_EQ(result.worst_output, "y");
  EXPECT_FALSE(result.within(1e-4));
}

TEST(Equivalence, AlgebraicallyEqualGraphsDifferByRoundingAlone) {
  const auto chain = [](bool left_first) {
    Editor editor("chain");
    const auto x = editor.add_input("x", {DType::f32, {8, 8}});
    const auto u = editor.add_weight("u", graph::Blob::seeded({DType::f32, {8, 8}}, 1, 1.0));
    const auto v = editor.add_weight("v", graph::Blob::seeded({DType::f32, {8, 8}}, 2, 1.0));
    editor.add_output("y", left_first ? editor.op(Op::matmul, {editor.op(Op::matmul, {x, u}), v})
                                      : editor.op(Op::matmul, {x, editor.op(Op::matmul, {u, v})}));
    return *editor.finish();
  };
  const auto native = equivalence(chain(true), chain(false), 3, 1);
  EXPECT_TRUE(native.within(1e-5)) << native.max_rel_error;
  EXPECT_GT(native.max_rel_error, 0.0);
  EquivalenceOptions exact;
  exact.f64 = true;
  EXPECT_LT(equivalence(chain(true), chain(false), exact).max_rel_error, 1e-13);
}

Graph one_op(Op op, const std::string& input, DType dtype, ops::Shape shape, const std::string& output) {
  Editor editor("one");
  editor.add_output(output, editor.op(op, {editor.add_input(input, {dtype, std::move(shape)})}));
  return *editor.finish();
}

TEST(Equivalence, InterfacesMustAgree) {
  const auto base = one_op(Op::relu, "x", DType::f32, {2}, "y");
  const auto reason = [&](const Graph& other) { return equivalence(base, other, 1, 1).reason; };
  EXPECT_EQ(reason(one_op(Op::relu, "z", DType::f32, {2}, "y")), "input 'z' is in one graph only");
  EXPECT_EQ(reason(one_op(Op::relu, "x", DType::f32, {2}, "w")), "output 0 is 'y' against 'w'");
  EXPECT_EQ(reason(one_op(Op::relu, "x", DType::f16, {2}, "y")), "input 'x' is f32[2] against f16[2]");
  EXPECT_FALSE(equivalence(base, linear_graph({1, 2, 3, 4}, {0, 0}), 1, 1).comparable);
}

TEST(Equivalence, NotANumberInOnePlaceIsADifference) {
  const auto result =
      equivalence(one_op(Op::sqrt, "x", DType::f32, {16}, "y"), one_op(Op::abs, "x", DType::f32, {16}, "y"), 1, 1);
  EXPECT_FALSE(result.comparable);
  EXPECT_EQ(result.reason, "output 'y': NaN in different places");
  EXPECT_FALSE(result.within(1e9));
  EXPECT_TRUE(
      equivalence(one_op(Op::sqrt, "x", DType::f32, {16}, "y"), one_op(Op::sqrt, "x", DType::f32, {16}, "y"), 1, 1)
          .within(0.0));
}

TEST(Equivalence, InfinitiesMustAgreeInSign) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(
      equivalence(linear_graph({1, 2, 3, 4}, {inf, 0}), linear_graph({1, 2, 3, 4}, {inf, 0}), 1, 1).within(0.0));
  const auto result = equivalence(linear_graph({1, 2, 3, 4}, {inf, 0}), linear_graph({1, 2, 3, 4}, {-inf, 0}), 1, 1);
  EXPECT_EQ(result.reason, "output 'y': infinities in different places");
}

TEST(Equivalence, LargeMagnitudesAreTried) {
  // Equal on (-16, 16): only the set with magnitude 16 distinguishes them.
  const auto clipped = [](double most) {
    Editor editor("clip");
    const auto x = editor.add_input("x", {DType::f32, {256}});
    editor.add_output("y", editor.op(Op::clip, {x}, {{Attr::min, -most}, {Attr::max, most}}));
    return *editor.finish();
  };
  EXPECT_TRUE(equivalence(clipped(16), clipped(17), 1, 1).within(0.0));
  EXPECT_FALSE(equivalence(clipped(16), clipped(17), 2, 1).within(1e-3));
  EXPECT_THROW(equivalence(clipped(16), clipped(17), 0, 1), Error);
}

}  // namespace
}  // namespace rlgo::verify

#include "core/measure/rounding_floor.h"

#include <gtest/gtest.h>

#include "core/graph/editor.h"
#include "core/measure/outputs.h"

namespace rlgo::measure {
namespace {

using ops::Attr;
using ops::Op;

TEST(RoundingFloor, IsThatOfSigmoidsBehindWhatOnlyMovesNumbers) {
  graph::Editor editor("g");
  const auto x = editor.add_input("x", {ops::DType::f32, {2, 3}});
  const auto sigmoid = editor.op(Op::sigmoid, {x});
  editor.add_output("p", sigmoid);
  editor.add_output("moved", editor.op(Op::concat, {sigmoid, sigmoid}, {{Attr::axis, int64_t{0}}}));
  editor.add_output("mixed", editor.op(Op::concat, {sigmoid, x}, {{Attr::axis, int64_t{0}}}));
  editor.add_output("x", x);
  const auto floors = rounding_floors(*editor.finish());
  ASSERT_EQ(floors.size(), 2u);
  EXPECT_NEAR(floors.at("p"), 4.77e-7, 1e-9);
  EXPECT_EQ(floors.at("moved"), floors.at("p"));
}

TEST(RoundingFloor, IsTakenFromDifferences) {
  const auto one = [](double value) { return Outputs{{{"p", "float32", {1}, {value}}}, ""}; };
  EXPECT_EQ(compare(one(9e-8), one(0)).max_rel_error, 1);
  EXPECT_EQ(compare(one(9e-8), one(0), {{"p", 4.77e-7}}).max_rel_error, 0);
  EXPECT_NEAR(compare(one(9e-8), one(0.01), {{"p", 4.77e-7}}).max_rel_error, 1.111e5, 100);  // no saturated sigmoid
  EXPECT_NEAR(compare(one(0.5), one(0.501), {{"p", 4.77e-7}}).max_rel_error, 0.002, 1e-5);
}

}  // namespace
}  // namespace rlgo::measure

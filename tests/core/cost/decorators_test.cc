#include "core/cost/decorators.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/core/cost/graphs.h"

namespace rlgo::cost {
namespace {

std::string checked_error(std::vector<double> answers, Op op) {
  CheckedCost model(std::make_unique<ScriptedCost>(std::move(answers)));
  const Graph g = small_graph();
  try {
    model.op_us(g, only(g, op));
    model.op_us(g, only(g, op));
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(CachedCost, AsksOncePerSignature) {
  auto inner = std::make_unique<ScriptedCost>(std::vector<double>{3.0, 4.0});
  const ScriptedCost* watched = inner.get();
  CachedCost model(std::move(inner));
  const Graph g = small_graph();
  EXPECT_EQ(model.op_us(g, only(g, Op::relu)), 3.0);
  EXPECT_EQ(model.op_us(g, only(g, Op::relu)), 3.0);
  EXPECT_EQ(model.op_us(g, only(g, Op::matmul)), 4.0);
  EXPECT_EQ(watched->asked, 2u);
  EXPECT_EQ(model.name(), "scripted");
}

// relu(x) and relu(w) have one signature, but the second is folded.
TEST(CachedCost, ConstantNodesDoNotSpoilTheCache) {
  Editor e("g");
  const Value folded = e.op(Op::relu, {weight(e, {8, 8})});
  const Value live = e.op(Op::relu, {e.add_input("x", f32({8, 8}))});
  const Graph g = finished(e, e.op(Op::add, {folded, live}));
  CachedCost model(std::make_unique<ScriptedCost>(std::vector<double>{3.0}));
  EXPECT_EQ(g.node(folded.node).info->signature_hash, g.node(live.node).info->signature_hash);
  EXPECT_EQ(model.op_us(g, folded.node), 0.0);
  EXPECT_EQ(model.op_us(g, live.node), 3.0);
  EXPECT_EQ(model.op_us(g, folded.node), 0.0);
}

TEST(CheckedCost, FindsBrokenAnswers) {
  EXPECT_EQ(checked_error({3.0}, Op::relu), "no error");
  EXPECT_EQ(checked_error({0.0}, Op::weight), "no error");
  EXPECT_EQ(checked_error({-1.0}, Op::relu), "cost model 'scripted': -1 us for relu (f32[4,16])");
  EXPECT_EQ(checked_error({3.0, 4.0}, Op::relu), "cost model 'scripted': 4 us after 3 us for relu (f32[4,16])");
  EXPECT_EQ(checked_error({1.0}, Op::weight), "cost model 'scripted': 1 us instead of 0 for weight ()");
  EXPECT_NE(checked_error({NAN}, Op::relu), "no error");
  EXPECT_NE(checked_error({INFINITY}, Op::relu), "no error");
}

}  // namespace
}  // namespace rlgo::cost

#include "core/optimise/check_coverage.h"

#include <gtest/gtest.h>

#include "core/graph/editor.h"

namespace rlgo::optimise {
namespace {

using graph::Editor;
using graph::Value;

const ops::TensorType kFloats(ops::DType::f32, {4});

Value relu(Editor& e, Value x) {
  const std::array in{x};
  return {e.add(ops::Op::relu, in), 0};
}

Value unknown(Editor& e, const char* op, Value x, ops::DType dtype) {
  auto opaque = std::make_shared<graph::Opaque>();
  opaque->op_type = op;
  opaque->outputs = {"o"};
  opaque->formal_inputs = {true};
  return {e.add_opaque(op, opaque, std::array{x}, {ops::TensorType(dtype, {4})}), 0};
}

TEST(CheckCoverage, AllIsSeenWhereAllIsKnown) {
  Editor e("g");
  e.add_output("y", relu(e, relu(e, e.add_input("x", kFloats))));
  const CheckCoverage coverage = check_coverage(*e.finish());
  EXPECT_EQ(coverage.direct, 2);
  EXPECT_EQ(coverage.all(), 2);
  EXPECT_FALSE(coverage.nothing());
  EXPECT_EQ(to_text(coverage), "");
}

TEST(CheckCoverage, UnknownFloatsLetDifferencesThroughButNotTheirSize) {
  Editor e("g");
  const Value a = relu(e, relu(e, e.add_input("x", kFloats)));
  e.add_output("y", relu(e, unknown(e, "LRN", a, ops::DType::f32)));
  const CheckCoverage coverage = check_coverage(*e.finish());
  EXPECT_EQ(coverage.direct, 1);
  EXPECT_EQ(coverage.through, 2);
  EXPECT_EQ(coverage.blind, 0);
  EXPECT_EQ(
      to_text(coverage),
      "2 of 3 operators stand in front of operators that rlgo does not compute (LRN 1): synthetic functions stand "
      "for these, through which a difference shows, but not its size");
}

TEST(CheckCoverage, UnknownIntegersHideWhatStandsBeforeThem) {
  Editor e("g");
  const Value a = relu(e, e.add_input("x", kFloats));
  e.add_output("y", unknown(e, "ArgMax", a, ops::DType::i64));
  const CheckCoverage coverage = check_coverage(*e.finish());
  EXPECT_EQ(coverage.blind, 1);
  EXPECT_TRUE(coverage.nothing());
  EXPECT_EQ(to_text(coverage),
            "all 1 operators stand in front of operators that rlgo does not compute (ArgMax 1): nothing is compared");
}

TEST(CheckCoverage, WhatReachesAnOutputInTwoWaysIsSeenByTheBetterOne) {
  Editor e("g");
  const Value a = relu(e, e.add_input("x", kFloats)), b = relu(e, e.add_input("z", kFloats));
  e.add_output("i", unknown(e, "ArgMax", a, ops::DType::i64));
  e.add_output("a", a);
  e.add_output("j", unknown(e, "ArgMin", b, ops::DType::i64));
  const CheckCoverage coverage = check_coverage(*e.finish());
  EXPECT_EQ(coverage.direct, 1);
  EXPECT_EQ(coverage.blind, 1);
  EXPECT_EQ(to_text(coverage),
            "1 of 2 operators stand in front of operators that rlgo does not compute (ArgMax 1, ArgMin 1): of 1 of "
            "them nothing is seen");
}

}  // namespace
}  // namespace rlgo::optimise

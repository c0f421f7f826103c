#include "core/optimise/check_coverage.h"

#include <gtest/gtest.h>

#include "core/graph/editor.h"

namespace rlgo::launch {
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

TEST(Sight, AllIsSeenWhereAllIsKnown) {
  Editor e("g");
  e.add_output("y", relu(e, relu(e, e.add_input("x", kFloats))));
  const Sight sight = sight_of(*e.finish());
  EXPECT_EQ(sight.direct, 2);
  EXPECT_EQ(sight.all(), 2);
  EXPECT_FALSE(sight.nothing());
  EXPECT_EQ(to_text(sight), "");
}

TEST(Sight, UnknownFloatsLetDifferencesThroughButNotTheirSize) {
  Editor e("g");
  const Value a = relu(e, relu(e, e.add_input("x", kFloats)));
  e.add_output("y", relu(e, unknown(e, "LRN", a, ops::DType::f32)));
  const Sight sight = sight_of(*e.finish());
  EXPECT_EQ(sight.direct, 1);
  EXPECT_EQ(sight.through, 2);
  EXPECT_EQ(sight.blind, 0);
  EXPECT_EQ(to_text(sight),
            "2 of 3 operators stand in front of operators that LibTorch does not know (LRN 1): made-up functions stand "
            "for these, through which a difference shows, but not its size");
}

TEST(Sight, UnknownIntegersHideWhatStandsBeforeThem) {
  Editor e("g");
  const Value a = relu(e, e.add_input("x", kFloats));
  e.add_output("y", unknown(e, "ArgMax", a, ops::DType::i64));
  const Sight sight = sight_of(*e.finish());
  EXPECT_EQ(sight.blind, 1);
  EXPECT_TRUE(sight.nothing());
  EXPECT_EQ(to_text(sight),
            "all 1 operators stand in front of operators that LibTorch does not know (ArgMax 1): nothing is compared");
}

TEST(Sight, WhatReachesAnOutputInTwoWaysIsSeenByTheBetterOne) {
  Editor e("g");
  const Value a = relu(e, e.add_input("x", kFloats)), b = relu(e, e.add_input("z", kFloats));
  e.add_output("i", unknown(e, "ArgMax", a, ops::DType::i64));
  e.add_output("a", a);
  e.add_output("j", unknown(e, "ArgMin", b, ops::DType::i64));
  const Sight sight = sight_of(*e.finish());
  EXPECT_EQ(sight.direct, 1);
  EXPECT_EQ(sight.blind, 1);
  EXPECT_EQ(to_text(sight),
            "1 of 2 operators stand in front of operators that LibTorch does not know (ArgMax 1, ArgMin 1): of 1 of "
            "them nothing is seen");
}

}  // namespace
}  // namespace rlgo::launch

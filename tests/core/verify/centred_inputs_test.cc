#include "core/exec/centred_inputs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/graph/editor.h"

namespace rlgo::exec {
namespace {

using graph::Blob;
using graph::Editor;
using graph::Value;
using ops::Op;

ops::TensorType floats(ops::Shape shape) { return {ops::DType::f32, std::move(shape)}; }

Value number(Editor& editor, const std::string& name, float value) {
  return editor.add_weight(name, Blob::bytes(floats({}), std::string(reinterpret_cast<const char*>(&value), 4)));
}

TEST(CentredInputs, LieWhereWhatIsTakenAwayLeavesNothing) {
  Editor editor("g");
  const Value x = editor.add_input("x", floats({64, 4}));
  const Value shifted = editor.op(Op::sub, {x, number(editor, "mean", 5000)});
  editor.add_output("y", editor.op(Op::div, {shifted, number(editor, "deviation", 20)}));
  const auto inputs = centred_inputs(*editor.finish(), 1);
  ASSERT_TRUE(inputs.has_value());
  EXPECT_NEAR(inputs->at("x").mean().item<double>(), 5000, 10);
  EXPECT_NEAR(inputs->at("x").std().item<double>(), 20, 5);
}

TEST(CentredInputs, KnowScaleBeforeShift) {
  Editor editor("g");
  const Value x = editor.add_input("x", floats({100}));
  const Value scaled = editor.op(Op::mul, {x, number(editor, "scale", 0.5)});
  editor.add_output("y", editor.op(Op::add, {scaled, number(editor, "shift", -100)}));
  const auto inputs = centred_inputs(*editor.finish(), 1);
  ASSERT_TRUE(inputs.has_value());
  EXPECT_NEAR(inputs->at("x").mean().item<double>(), 200, 2);
}

TEST(CentredInputs, OfPartsHaveEachItsOwn) {
  Editor editor("g");
  const Value x = editor.add_input("x", floats({50, 4}));
  const auto half = [&](int64_t from) {
    return editor.op(Op::slice, {x},
                     {{ops::Attr::axes, ops::Ints{1}},
                      {ops::Attr::starts, ops::Ints{from}},
                      {ops::Attr::ends, ops::Ints{from + 2}}});
  };
  editor.add_output("y", editor.op(Op::sub, {half(0), number(editor, "mean", 1000)}));
  editor.add_output("z", editor.op(Op::relu, {half(2)}));
  const auto inputs = centred_inputs(*editor.finish(), 1);
  ASSERT_TRUE(inputs.has_value());
  EXPECT_NEAR(inputs->at("x").slice(1, 0, 2).mean().item<double>(), 1000, 1);
  EXPECT_NEAR(inputs->at("x").slice(1, 2, 4).mean().item<double>(), 0, 1);
}

TEST(CentredInputs, AreNoneWhereShiftsAreSmall) {
  Editor editor("g");
  const Value x = editor.add_input("x", floats({8}));
  const Value shifted = editor.op(Op::sub, {x, number(editor, "mean", 0.485F)});
  editor.add_output("y", editor.op(Op::div, {shifted, number(editor, "deviation", 0.229F)}));
  EXPECT_FALSE(centred_inputs(*editor.finish(), 1).has_value());
}

}  // namespace
}  // namespace rlgo::exec

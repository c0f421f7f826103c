#include "core/verify/centred_inputs.h"

#include <gtest/gtest.h>

#include "core/graph/editor.h"

namespace rlgo::verify {
namespace {

using graph::Blob;
using graph::Editor;
using graph::Value;
using ops::Op;

ops::TensorType floats(ops::Shape shape) { return {ops::DType::f32, std::move(shape)}; }

Value number(Editor& editor, const std::string& name, float value) {
  return editor.add_weight(name, Blob::bytes(floats({}), std::string(reinterpret_cast<const char*>(&value), 4)));
}

// Of the columns [from, to) of a tensor of two axes.
double mean_of(const Tensor& x, int64_t from, int64_t to) {
  double sum = 0;
  each_number(x, [&](int64_t i, double number) {
    const int64_t column = i % x.shape().back();
    sum += column >= from && column < to ? number : 0;
  });
  return sum / static_cast<double>(x.elements() / x.shape().back() * (to - from));
}
double mean_of(const Tensor& x) { return mean_of(x, 0, x.shape().back()); }
double deviation_of(const Tensor& x) {
  double sum = 0;
  each_number(x, [&, mean = mean_of(x)](int64_t, double number) { sum += (number - mean) * (number - mean); });
  return std::sqrt(sum / static_cast<double>(x.elements() - 1));
}

TEST(CentredInputs, LieWhereWhatIsTakenAwayLeavesNothing) {
  Editor editor("g");
  const Value x = editor.add_input("x", floats({64, 4}));
  const Value shifted = editor.op(Op::sub, {x, number(editor, "mean", 5000)});
  editor.add_output("y", editor.op(Op::div, {shifted, number(editor, "deviation", 20)}));
  const auto inputs = centred_inputs(*editor.finish(), 1);
  ASSERT_TRUE(inputs.has_value());
  EXPECT_NEAR(mean_of(inputs->at("x")), 5000, 10);
  EXPECT_NEAR(deviation_of(inputs->at("x")), 20, 5);
}

TEST(CentredInputs, KnowScaleBeforeShift) {
  Editor editor("g");
  const Value x = editor.add_input("x", floats({100}));
  const Value scaled = editor.op(Op::mul, {x, number(editor, "scale", 0.5)});
  editor.add_output("y", editor.op(Op::add, {scaled, number(editor, "shift", -100)}));
  const auto inputs = centred_inputs(*editor.finish(), 1);
  ASSERT_TRUE(inputs.has_value());
  EXPECT_NEAR(mean_of(inputs->at("x")), 200, 2);
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
  EXPECT_NEAR(mean_of(inputs->at("x"), 0, 2), 1000, 1);
  EXPECT_NEAR(mean_of(inputs->at("x"), 2, 4), 0, 1);
}

TEST(CentredInputs, AreNoneWhereShiftsAreSmall) {
  Editor editor("g");
  const Value x = editor.add_input("x", floats({8}));
  const Value shifted = editor.op(Op::sub, {x, number(editor, "mean", 0.485F)});
  editor.add_output("y", editor.op(Op::div, {shifted, number(editor, "deviation", 0.229F)}));
  EXPECT_FALSE(centred_inputs(*editor.finish(), 1).has_value());
}

}  // namespace
}  // namespace rlgo::verify

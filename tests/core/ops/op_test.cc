// Contract of the operator table: every operator, its attributes, arity, and answers to absurd input.
#include "core/ops/op.h"

#include <cmath>
#include <limits>
#include <set>

#include "tests/core/ops/call.h"

namespace rlgo::ops {
namespace {

TEST(Op, EveryLineOfTheListHasASpec) {
  std::set<std::string_view> names;
  for (Op op : all_ops()) {
    EXPECT_EQ(spec(op).op, op) << name(op);
    EXPECT_EQ(op_from_name(name(op)), op);
    EXPECT_LE(spec(op).min_inputs, spec(op).max_inputs);
    EXPECT_NE(spec(op).infer, nullptr);
    EXPECT_NE(spec(op).work, nullptr);
    names.insert(name(op));
  }
  EXPECT_EQ(names.size(), all_ops().size());
  EXPECT_EQ(all_ops().size(), 97u);
  EXPECT_EQ(op_from_name("conv3d"), std::nullopt);
}

TEST(Op, IdsAreStable) {
  EXPECT_EQ(static_cast<int>(Op::input), 1);
  EXPECT_EQ(static_cast<int>(Op::conv2d), 3);
  EXPECT_EQ(static_cast<int>(Op::opaque), 40);
  EXPECT_EQ(static_cast<int>(Op::log), 44);
  EXPECT_EQ(static_cast<int>(Op::conv_transpose), 54);
  EXPECT_EQ(static_cast<int>(Op::softplus), 57);
  EXPECT_EQ(static_cast<int>(Op::lp_norm), 86);
  EXPECT_EQ(static_cast<int>(Op::one_hot), 95);
  EXPECT_EQ(static_cast<int>(Op::recurrent), 97);
}

TEST(Op, CommutativeOnesHaveTwoInputs) {
  std::set<std::string_view> commutative;
  for (Op op : all_ops()) {
    if (!spec(op).commutative) continue;
    commutative.insert(name(op));
    EXPECT_EQ(spec(op).max_inputs, 2) << name(op);
  }
  EXPECT_EQ(commutative,
            (std::set<std::string_view>{"add", "mul", "min", "max", "equal", "logical_and", "logical_or"}));
}

TEST(Op, CompleteAttrsFillsDefaults) {
  const auto attrs = complete_attrs(Op::conv2d, {{Attr::pads, Ints{1, 1, 1, 1}}});
  ASSERT_TRUE(attrs.has_value());
  EXPECT_EQ(to_string(*attrs), "act=none dilations=[1,1] group=1 pads=[1,1,1,1] strides=[1,1]");
  EXPECT_EQ(complete_attrs(Op::conv2d, *attrs), attrs);  // already complete
}

TEST(Op, AnIntServesAsAFloatButNotTheOtherWayRound) {
  EXPECT_EQ(complete_attrs(Op::leaky_relu, {{Attr::alpha, int64_t{2}}})->f(Attr::alpha), 2.0);
  std::string reason;
  EXPECT_FALSE(complete_attrs(Op::softmax, {{Attr::axis, 1.0}}, &reason));
  EXPECT_EQ(reason, "softmax: attribute 'axis' must be an int, not 1.0");
}

TEST(Op, AttributeErrorsStateWhy) {
  std::string reason;
  EXPECT_FALSE(complete_attrs(Op::conv2d, {{Attr::perm, Ints{0}}}, &reason));
  EXPECT_EQ(reason, "conv2d has no attribute 'perm'; it has: act dilations group pads strides");
  EXPECT_FALSE(complete_attrs(Op::softmax, {}, &reason));
  EXPECT_EQ(reason, "softmax needs the attribute 'axis' (an int)");
  EXPECT_FALSE(complete_attrs(Op::pad, {{Attr::pads, Ints{0, 0}}, {Attr::value, std::nan("")}}));
}

TEST(Op, SliceStepsDefaultToOnesOfTheRightLength) {
  const auto attrs =
      complete_attrs(Op::slice, {{Attr::axes, Ints{0, 1}}, {Attr::starts, Ints{0, 0}}, {Attr::ends, Ints{1, 1}}});
  EXPECT_EQ(attrs->ints(Attr::steps), (Ints{1, 1}));
}

TEST(Op, InferStatesWhy) {
  std::string reason;
  EXPECT_FALSE(infer(Op::relu, types("f32[1] f32[1]"), {}, &reason));
  EXPECT_EQ(reason, "relu takes 1 to 1 inputs, not 2");
  EXPECT_FALSE(infer(Op::add, types("f32[2] f32[3]"), {}, &reason));
  EXPECT_EQ(reason, "add(f32[2], f32[3]): inputs and attributes do not fit together");
  EXPECT_FALSE(infer(Op::relu, types("f32[?]"), {}, &reason));
  EXPECT_EQ(reason, "relu(f32[?]): an input of unknown shape");
  EXPECT_FALSE(infer(Op::add, types("f32[4611686018427387904,1] f32[1,4611686018427387904]"), {}, &reason));
  EXPECT_NE(reason.find("too large"), std::string::npos);
}

TEST(Op, LeavesAndOpaqueAreNotInferredAndHaveNoWork) {
  for (Op op : {Op::input, Op::weight, Op::opaque}) {
    EXPECT_FALSE(infer(op, {}, {}).has_value());
    EXPECT_EQ(spec(op).work({}, {}).bytes, 0.0);
  }
}

// Types and attributes that no sane model has: every operator answers (most often "does not fit"), none overflows.
TEST(Op, AbsurdInputsAreAnswered) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const std::vector<TensorType> shapes{{DType::f32, {huge, huge, huge, huge}},
                                       {DType::f32, {huge, 1, huge, 1}},
                                       {DType::f32, {}},
                                       {DType::f32, {0, huge, 0, huge}},
                                       {DType::i64, {huge}},
                                       {DType::other, {2}},
                                       {DType::f32, {1, 1, 4, 4}}};
  for (Op op : all_ops()) {
    for (int64_t number : {huge, -huge - 1, int64_t{0}, int64_t{-1}, int64_t{1}}) {
      Attrs attrs;
      for (const auto& attr : spec(op).attrs) {
        attrs.set(attr.key, attr.fallback);
        if (std::holds_alternative<int64_t>(attr.fallback)) attrs.set(attr.key, number);
        if (std::holds_alternative<Ints>(attr.fallback))
          attrs.set(attr.key, Ints(attr.key == Attr::pads ? 4 : 2, number));
      }
      for (const auto& first : shapes) {
        for (const auto& second : shapes) {
          for (size_t arity = 0; arity <= 3; ++arity) {
            const Types all{first, second, first};
            const Types inputs(all.begin(), all.begin() + static_cast<int64_t>(arity));
            const auto outputs = infer(op, inputs, attrs);
            if (!outputs) continue;
            for (const auto& type : *outputs) EXPECT_LT(type.bytes(), huge) << name(op);
            EXPECT_GE(spec(op).work(inputs, attrs).flops, 0.0) << name(op);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rlgo::ops

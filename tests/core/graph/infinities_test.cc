#include "core/graph/infinities.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/editor.h"
#include "core/graph/text.h"
#include "core/graph/trial.h"

namespace rlgo::graph {
namespace {

using ops::Attr;
using ops::DType;
using ops::Op;

std::shared_ptr<const Blob> mask(std::initializer_list<float> numbers) {
  const std::vector<float> all(numbers);
  return Blob::bytes({DType::f32, {static_cast<int64_t>(all.size())}},
                     std::string(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(float)));
}

// x + mask and what is made of it.
struct Masked {
  Editor editor{"g"};
  Value x = editor.add_input("x", {DType::f32, {2}});
  Value weight = editor.add_weight("m", mask({0, -HUGE_VALF}));
  Value sum = editor.op(Op::add, {x, weight});
  int bits(Value value) const { return editor.node(value.node).infinities; }
};

TEST(Infinities, OfWeightsAreFound) {
  EXPECT_EQ(mask({1, 2})->infinities(), kFinite);
  EXPECT_EQ(mask({1, HUGE_VALF})->infinities(), kPositiveInfinite);
  EXPECT_EQ(mask({1, -HUGE_VALF})->infinities(), kNegativeInfinite);
  EXPECT_EQ(mask({NAN, 1})->infinities(), kBothInfinite);
  EXPECT_EQ(infinities_of(DType::f16, std::string("\x00\xFC\x00\x3C", 4)), kNegativeInfinite);
  EXPECT_EQ(infinities_of(DType::i32, std::string("\x00\x00\x80\x7F", 4)), kFinite);
}

TEST(Infinities, ReachWhatIsMadeOfThem) {
  Masked m;
  EXPECT_EQ(m.bits(m.x), kFinite);
  EXPECT_EQ(m.bits(m.sum), kNegativeInfinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::neg, {m.sum})), kPositiveInfinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::sub, {m.x, m.weight})), kPositiveInfinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::mul, {m.x, m.weight})), kBothInfinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::less, {m.x, m.weight})), kFinite) << "truth values";
}

TEST(Infinities, EndAtBounds) {
  Masked m;
  EXPECT_EQ(m.bits(m.editor.op(Op::softmax, {m.sum}, {{Attr::axis, int64_t{0}}})), kFinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::relu, {m.sum})), kFinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::exp, {m.sum})), kFinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::max, {m.sum, m.x})), kFinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::min, {m.sum, m.x})), kNegativeInfinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::clip, {m.sum}, {{Attr::min, -1e9}, {Attr::max, HUGE_VAL}})), kFinite);
  EXPECT_EQ(m.bits(m.editor.op(Op::clip, {m.sum}, {{Attr::min, -HUGE_VAL}, {Attr::max, 1e9}})), kNegativeInfinite);
}

TEST(Infinities, FollowEdits) {
  Masked m;
  m.editor.add_output("y", m.editor.op(Op::neg, {m.sum}));
  const Graph graph = *m.editor.finish();
  Trial trial(graph);
  trial.editor().replace(m.weight, trial.editor().add_weight("n", mask({0, -1})));
  trial.apply();
  EXPECT_EQ(trial.graph().node(m.sum.node).infinities, kFinite);
  trial.undo();
  EXPECT_EQ(trial.graph().node(m.sum.node).infinities, kNegativeInfinite);
}

TEST(Infinities, ExtremeConstantsAreMarked) {
  const auto bits = [](std::initializer_list<float> numbers) { return int{mask(numbers)->infinities()}; };
  EXPECT_EQ(bits({1e-3F, 1e-40F, 1}), kFinite);  // the largest counts
  EXPECT_EQ(bits({0, 0}), kFinite);
  EXPECT_EQ(bits({1e-7F, 0}), kExtreme);
  EXPECT_EQ(bits({-2e6F, 1}), kExtreme);
  EXPECT_EQ(bits({-HUGE_VALF, 3e38F}), kNegativeInfinite | kExtreme);
  EXPECT_EQ(infinities_of(1e6), kFinite);
  EXPECT_EQ(infinities_of(-1e-30), kExtreme);
  Editor editor("g");
  const Value x = editor.add_input("x", {DType::f32, {2}}), w = editor.add_weight("w", mask({1e-30F, 0}));
  EXPECT_EQ(editor.node(editor.op(Op::neg, {w}).node).infinities, kExtreme);
  EXPECT_EQ(editor.node(editor.op(Op::max, {x, w}).node).infinities & kBothInfinite, kFinite);
}

// Processes without the contents must see the same.
TEST(Infinities, StandInTheTextForm) {
  Masked m;
  m.editor.add_output("y", m.sum);
  const std::string text = to_text(*m.editor.finish());
  EXPECT_NE(text.find(" infinities=2 : f32[2]"), std::string::npos) << text;
  const Graph read = from_text(text);
  EXPECT_EQ(read.node(read.outputs()[0].value.node).infinities, kNegativeInfinite);
  EXPECT_EQ(to_text(read), text);
}

}  // namespace
}  // namespace rlgo::graph

#include "core/verify/agreement.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/verify/equivalence.h"
#include "core/verify/reference_runs.h"
#include "tests/core/verify/graphs.h"

namespace rlgo::verify {
namespace {

using graph::Editor;
using graph::Graph;
using graph::Value;
using ops::Op;

constexpr ops::DType kF32 = ops::DType::f32;

Value number(Editor& e, float value) { return e.add_weight("", f32_blob({value}, {})); }

struct Pair {
  Graph before, after;
  std::vector<ValuePair> replaced;
};

// relu(relu(x)) in front of what `behind` adds, and the same with -x in its place: wrong.
Pair wrong_in_front_of(const std::function<Value(Editor&, Value)>& behind, ops::Shape shape = {2, 6}) {
  Pair pair;
  Editor e("g");
  const Value x = e.add_input("x", {kF32, std::move(shape)});
  const Value twice = e.op(Op::relu, {e.op(Op::relu, {x})});
  e.add_output("y", behind(e, twice));
  pair.before = *e.finish();
  Editor edit(pair.before);
  const Value minus = edit.op(Op::neg, {x});
  edit.replace(twice, minus);
  pair.after = *edit.finish();
  pair.replaced = {{twice, minus}};
  return pair;
}

Agreement found(const Pair& pair, int sets = kInputKinds) {
  AgreementCheck check(pair.before, pair.after, pair.replaced);
  for (int k = 0; k < sets; ++k) check.run(check_inputs(pair.before, 1, k));
  return check.found();
}

TEST(Agreement, SameGraphAgreesExactly) {
  const Graph graph = linear_graph({1, 2, 3, 4}, {5, 6});
  const Agreement same = found({graph, graph, {}});
  EXPECT_FALSE(same.wrong);
  EXPECT_EQ(same.error, 0);
  EXPECT_TRUE(same.output_compared[0] && same.output_moves[0]);
}

// What noise would have to excuse is not judged where there is no time for noisy runs, and can be asked for again.
TEST(Agreement, ASetThatIsCutShortIsNotFoundToAgree) {
  const Pair wrong = wrong_in_front_of([](Editor& e, Value v) { return e.op(Op::tanh, {v}); });
  bool over = false;
  const Deadline deadline = Deadline::when([&] { return over; });
  const auto runs = std::make_shared<ReferenceRuns>(wrong.before, 1, nullptr, deadline);
  AgreementCheck check(runs, wrong.after, wrong.replaced);
  const int set = runs->add(check_inputs(wrong.before, 1, 0));
  runs->inner(set);
  over = true;
  EXPECT_THROW(check.run(set), Stopped);
  EXPECT_TRUE(check.found().compared == 0 && !check.found().wrong && !check.found().output_compared[0]);
  over = false;
  check.run(set);
  EXPECT_TRUE(check.found().wrong);
}

// x and x (1 + 2^-22): as far apart as a constant's rounding explains. No time for noisy runs.
TEST(Agreement, WithoutTimeForNoiseASmallDifferenceCountsAsRounded) {
  const auto scaled = [](float factor) {
    Editor e("g");
    e.add_output("y", e.op(Op::mul, {e.add_input("x", {kF32, {2, 6}}), number(e, factor)}));
    return *e.finish();
  };
  const Deadline soon([] { return 1e-12; });  // seconds, less than a run takes
  const Graph before = scaled(1);
  for (const auto& [factor, explained] : {std::pair{1 + 0x1p-22F, true}, {1 + 0x1p-15F, false}}) {
    AgreementCheck check(std::make_shared<ReferenceRuns>(before, 1, nullptr, soon), scaled(factor), {});
    if (explained) {
      check.run(check_inputs(before, 1, 0));
      EXPECT_EQ(check.found().rounded, 12);
    } else {
      EXPECT_THROW(check.run(check_inputs(before, 1, 0)), Stopped);
    }
    EXPECT_FALSE(check.found().wrong);
  }
}

TEST(Agreement, OriginalRunsOnceForAllCandidates) {
  const Graph graph = linear_graph({1, 2, 3, 4}, {5, 6});
  const auto runs = std::make_shared<ReferenceRuns>(graph, 1);
  const int set = runs->add(check_inputs(graph, 1, 0));
  for (int candidate = 0; candidate < 3; ++candidate) {
    AgreementCheck check(runs, graph, {});
    check.run(set);
    EXPECT_EQ(check.found().error, 0);
  }
  EXPECT_EQ(runs->runs(), 1);
}

// An attention of 9,216 positions has 85 million of them. Places are whole numbers, also where single precision has
// none.
TEST(Agreement, LargeValuesAreSampledWithinTheirBounds) {
  constexpr int64_t kMany = (int64_t{1} << 24) + 4;  // its last place is rounded to one behind it
  Editor e("g");
  const Value x = e.add_input("x", {kF32, {1, 1, 1}});
  e.add_output("y", e.op(Op::expand, {x}, {{ops::Attr::shape, ops::Ints{1, 1, kMany}}}));
  const Graph graph = *e.finish();
  ReferenceRuns runs(graph, 1);
  const int set = runs.add({{"x", tensor_of({3}, {1, 1, 1})}});
  const auto& scale = runs.kept_outputs(set).at("y").scale;
  EXPECT_EQ(std::ranges::min(scale), 3.0);
  EXPECT_EQ(std::ranges::max(scale), 3.0);
}

// Noise is a matter of the original alone, and no excuse for a candidate that differs more.
TEST(Agreement, NoiseOfOneCandidateServesAllOthers) {
  const Pair wrong = wrong_in_front_of([](Editor& e, Value v) { return e.op(Op::tanh, {v}); });
  const auto runs = std::make_shared<ReferenceRuns>(wrong.before, 1);
  const int set = runs->add(check_inputs(wrong.before, 1, 0));
  for (int candidate = 0; candidate < 2; ++candidate) {
    AgreementCheck check(runs, wrong.after, wrong.replaced);
    check.run(set);
    EXPECT_TRUE(check.found().wrong);
  }
  EXPECT_EQ(runs->runs(), 11);  // once, twice with noise of operators, eight times with that of constants
  AgreementCheck same(runs, wrong.before, {});
  same.run(set);
  EXPECT_EQ(same.found().error, 0);
}

TEST(Agreement, WrongBehindNothingButNaN) {
  const auto nan = [](Editor& e, Value v) {
    return e.op(Op::mul, {v, number(e, std::numeric_limits<float>::quiet_NaN())});
  };
  const Pair pair = wrong_in_front_of(nan);
  EXPECT_TRUE(equivalence(pair.before, pair.after, 3, 1).within(1e-4));  // outputs alone show nothing
  const Agreement wrong = found(pair);
  EXPECT_TRUE(wrong.wrong);
  EXPECT_FALSE(wrong.output_compared[0]);
  EXPECT_TRUE(wrong.replaced_compared[0]);
}

TEST(Agreement, OnlyNaNIsNotAPass) {
  const auto nan = [](Editor& e, Value v) {
    return e.op(Op::mul, {v, number(e, std::numeric_limits<float>::quiet_NaN())});
  };
  Pair pair = wrong_in_front_of(nan);
  pair.replaced.clear();  // nothing but NaN is seen then
  const Agreement silent = found(pair);
  EXPECT_FALSE(silent.wrong);
  EXPECT_FALSE(silent.output_compared[0]);
  EXPECT_EQ(silent.compared, 0);
}

TEST(Agreement, WrongBehindASaturatedSoftmax) {
  const auto soft = [](Editor& e, Value v) {
    ops::Attrs attrs;
    attrs.set(ops::Attr::axis, 1);
    return e.op(Op::softmax, {e.op(Op::mul, {v, number(e, 1e12F)})}, attrs);
  };
  const Pair pair = wrong_in_front_of(soft);
  EXPECT_TRUE(found(pair).wrong);
}

TEST(Agreement, WrongBesideALargeElement) {
  const auto large = [](Editor& e, Value v) {
    return e.op(Op::add, {v, e.add_weight("", f32_blob({1e30F, 0, 0, 0, 0, 0}, {6}))});
  };
  Pair pair = wrong_in_front_of(large);
  pair.replaced.clear();
  EXPECT_TRUE(equivalence(pair.before, pair.after, 3, 1).within(1e-4));  // relative to 1e30
  EXPECT_TRUE(found(pair).wrong);
}

// A stack of convolutions by three spellings of which single precision rounds away, under a sigmoid.
TEST(Agreement, RoundingIsNotWrong) {
  Editor e("deep");
  Value v = e.add_input("x", {kF32, {1, 8, 6, 6}});
  std::vector<float> w(8 * 8 * 9);
  for (size_t k = 0; k < w.size(); ++k) w[k] = static_cast<float>((k * 7919 % 101) - 50.0) / 90;
  ops::Attrs attrs;
  attrs.set(ops::Attr::pads, ops::Ints{1, 1, 1, 1});
  Value first_sum{};
  for (int layer = 0; layer < 12; ++layer) {
    const Value conv = e.op(Op::conv2d, {v, e.add_weight("", f32_blob(w, {8, 8, 3, 3}))}, attrs);
    v = e.op(Op::sigmoid, {e.op(Op::mul, {conv, number(e, 3)})});
    if (layer == 0) first_sum = v;
  }
  e.add_output("y", v);
  const Graph before = *e.finish();
  // x -> (3 x) / 3 at the beginning: exact over real numbers, rounded in floats.
  Editor edit(before);
  const Value thrice = edit.op(Op::mul, {first_sum, number(edit, 3)});
  const Value same = edit.op(Op::mul, {thrice, number(edit, 1.0F)});
  const Value back = edit.op(Op::div, {same, number(edit, 3)});
  edit.replace(first_sum, back);
  const Graph after = *edit.finish();
  const Agreement rounded = found({before, after, {}});
  EXPECT_FALSE(rounded.wrong) << rounded.error << " " << rounded.worst;
  EXPECT_LT(rounded.error, 1e-9);
  const auto inputs = check_inputs(before, 1, 0);
  const auto reference = exact_outputs(before, inputs, 1);
  const double own = output_errors(reference, native_outputs(before, inputs, 1)).begin()->second;
  EXPECT_GT(own, 1e-9);
  EXPECT_LT(output_errors(reference, native_outputs(after, inputs, 1)).begin()->second, 8 * own);
}

TEST(CheckInputs, IntegersThatIndexNothingAreMasksAtFirst) {
  Editor e("g");
  const Value mask = e.add_input("mask", {ops::DType::i64, {16, 16}}), one = e.add_input("one", {ops::DType::i64, {}});
  const Value ids = e.add_input("ids", {ops::DType::i64, {64}});
  e.add_output("m", e.op(Op::cast, {mask}, {{ops::Attr::to, std::string("f32")}}));
  e.add_output("o", e.op(Op::cast, {one}, {{ops::Attr::to, std::string("f32")}}));
  e.add_output("y", e.op(Op::gather, {e.add_weight("", f32_blob({1, 2, 3, 4, 5}, {5, 1})), ids}));
  const Graph graph = *e.finish();
  for (int kind = 0; kind < kInputKinds; ++kind) {
    const auto inputs = check_inputs(graph, 1, kind);
    const auto most = [&](const std::string& name) { return largest(inputs.at(name)); };
    EXPECT_EQ(most("mask"), kind == 0 ? 1 : evaluate::kIndexBound - 1);
    EXPECT_EQ(most("ids"), 4);
    EXPECT_EQ(least(inputs.at("mask")), 0);
  }
}

// Inputs of files whose shapes contradict each other keep open sizes; they count as one.
TEST(CheckInputs, SizesThatAreNotKnownCountAsOne) {
  Editor e("g");
  const Value x = e.add_input("x", {kF32, {ops::kUnknown, 3}});
  const Value ids = e.add_input("ids", {ops::DType::i64, {ops::kUnknown, 4}});
  const Value both[] = {x, ids};
  e.add_output("y", {e.add_opaque("f", opaque("f"), both, {{kF32, {2}}}), 0});
  const auto inputs = check_inputs(*e.finish(), 1, 0);
  EXPECT_EQ(inputs.at("x").shape(), (ops::Shape{1, 3}));
  EXPECT_EQ(inputs.at("ids").shape(), (ops::Shape{1, 4}));
  EXPECT_LE(largest(inputs.at("ids")), 1);
}

Value random_weight(Editor& e, ops::Shape shape, uint64_t seed) {
  return e.add_weight("", graph::Blob::seeded({kF32, std::move(shape)}, seed, 1));
}

// `layers` of x * 0.5 * (1 + erf(x * scale)), as a file spells GELU, against the operator; `classes` > 0: as features
// of a classifier.
Agreement gelu_against(float scale, ops::Shape shape = {4, 64}, int layers = 1, int64_t classes = 0) {
  Pair pair;
  Editor e("g");
  const int64_t features = shape.back();
  std::vector<std::pair<Value, Value>> active;
  Value x = e.add_input("x", {kF32, std::move(shape)});
  for (int layer = 0; layer < layers; ++layer) {
    if (layer > 0) x = e.op(Op::matmul, {x, random_weight(e, {features, features}, static_cast<uint64_t>(layer))});
    const Value erf = e.op(Op::erf, {e.op(Op::mul, {x, number(e, scale)})});
    const Value y = e.op(Op::mul, {e.op(Op::mul, {x, number(e, 0.5F)}), e.op(Op::add, {erf, number(e, 1)})});
    active.emplace_back(x, y);
    x = y;
  }
  if (classes > 0) {
    ops::Attrs attrs;
    attrs.set(ops::Attr::axis, 2);
    x = e.op(Op::softmax, {e.op(Op::matmul, {x, random_weight(e, {features, classes}, 99)})}, attrs);
  } else {
    x = e.op(Op::tanh, {x});
  }
  e.add_output("y", x);
  pair.before = *e.finish();
  Editor edit(pair.before);
  for (const auto& [in, out] : active) {
    const Value gelu = edit.op(Op::gelu, {in});
    edit.replace(out, gelu);
    pair.replaced.emplace_back(out, gelu);
  }
  pair.after = *edit.finish();
  return found(pair);
}

// 0.70710677 is how single precision writes the root of 1/2, which the rule reads.
TEST(Agreement, AConstantsRoundingIsNotWrong) {
  EXPECT_FALSE(gelu_against(0.70710677f).wrong);
  EXPECT_TRUE(gelu_against(0.7072f).wrong);
}

// Two noisy runs hardly move some of a million elements, by chance: more of them are needed before anything is called
// wrong.
TEST(Agreement, AConstantsRoundingIsNotWrongInAnyOfManyElements) {
  const Agreement many = gelu_against(0.70710683F, {2, 50, 8}, 6, 10000);
  EXPECT_FALSE(many.wrong) << many.worst << " " << many.error;
  EXPECT_GT(many.rounded, 0);
  EXPECT_TRUE(many.output_compared[0]);
  EXPECT_TRUE(gelu_against(0.7072F, {2, 50, 8}, 6, 10000).wrong);
}

// (x + 1e20) - 1e20 is 0 in double precision, too: noise moves it by far more than the difference.
TEST(Agreement, WhatCancelsIsNotJudged) {
  const auto graph = [](bool grouped) {
    Editor e("g");
    const Value x = e.add_input("x", {kF32, {4}}), big = number(e, 1e20F);
    e.add_output(
        "y", grouped ? e.op(Op::add, {x, e.op(Op::sub, {big, big})}) : e.op(Op::sub, {e.op(Op::add, {x, big}), big}));
    return *e.finish();
  };
  const Agreement unstable = found({graph(false), graph(true), {}}, 1);
  EXPECT_FALSE(unstable.wrong);
  EXPECT_EQ(unstable.unstable, 4);
}

TEST(Agreement, IntegersAreComparedExactly) {
  const auto graph = [](float shift) {
    Editor e("g");
    const Value x = e.add_input("x", {kF32, {64}});
    e.add_output("y", e.op(Op::less, {x, number(e, shift)}));
    return *e.finish();
  };
  EXPECT_FALSE(found({graph(0), graph(0), {}}).wrong);
  EXPECT_TRUE(found({graph(0), graph(0.5F), {}}).wrong);
}

TEST(Agreement, OtherInterfacesAreNotCompared) {
  Editor e("g");
  e.add_output("z", e.add_input("x", {kF32, {2, 2}}));
  EXPECT_NE(found({linear_graph({1, 2, 3, 4}, {5, 6}), *e.finish(), {}}).interface, "");
}

}  // namespace
}  // namespace rlgo::verify

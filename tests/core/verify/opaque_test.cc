// Operators that rlgo does not know stand for seeded functions of all their inputs.
#include "core/verify/equivalence.h"
#include "core/verify/unknown_types.h"
#include "tests/core/verify/graphs.h"

namespace rlgo::verify {
namespace {

using ops::DType;

Tensor run_opaque(const Tensors& in, const ops::TensorType& out, const std::string& payload = "p") {
  graph::NodeInfo info;
  info.op = Op::opaque;
  info.opaque = opaque(payload);
  info.outputs = {out};
  return evaluate::run_kernel({.in = in, .info = info}).at(0);
}

double moved(const Tensor& a, const Tensor& b) {
  const auto other = numbers_of(b);
  double most = 0;
  each_number(a, [&](int64_t i, double x) { most = std::max(most, std::abs(x - other[static_cast<size_t>(i)])); });
  return most;
}

TEST(Opaque, IsDeterministicAndFollowsItsPayload) {
  const ops::TensorType out(DType::f32, {2, 3});
  const Tensors in{tensor_of({1, 2, 3}, {3})};
  const auto y = run_opaque(in, out);
  EXPECT_EQ(moved(y, run_opaque(in, out)), 0);
  EXPECT_GT(moved(y, run_opaque(in, out, "q")), 0.1);
}

TEST(Opaque, EveryElementAndTheOrderOfInputsMatter) {
  const ops::TensorType out(DType::f32, {4});
  const auto a = tensor_of({1, 2, 3}, {3}), b = tensor_of({4, 5, 6}, {3});
  const auto y = run_opaque({a, b}, out);
  const auto effect = [&](const Tensors& in) { return moved(run_opaque(in, out), y); };
  EXPECT_GT(effect({b, a}), 1e-3);
  EXPECT_GT(effect({tensor_of({2, 1, 3}, {3}), b}), 1e-3);
  EXPECT_GT(effect({a, tensor_of({4, 5, 6.5}, {3})}), 1e-3);
  EXPECT_LT(effect({a, tensor_of({4, 5, 6.000001}, {3})}), 1e-5);  // smooth: rounding noise stays noise
}

TEST(Opaque, UnknownShapesAndOddTypes) {
  EXPECT_EQ(run_opaque({}, ops::TensorType(DType::f32, {ops::kUnknown, 3})).shape(), (ops::Shape{1, 3}));
  EXPECT_EQ(run_opaque({}, ops::TensorType::unranked(DType::f16)).rank(), 0);
  EXPECT_EQ(run_opaque({}, ops::TensorType(DType::other, {})).elements(), 1);
  const auto integers = run_opaque({}, ops::TensorType(DType::i64, {100}));
  EXPECT_EQ(least(integers), 0);
  EXPECT_EQ(largest(integers), evaluate::kIndexBound - 1);
  const auto booleans = run_opaque({}, ops::TensorType(DType::boolean, {100}));
  EXPECT_EQ(least(booleans), 0);
  EXPECT_EQ(largest(booleans), 1);
}

graph::Graph guarded(float bias) {
  graph::Editor editor("guarded");
  const auto x = editor.add_input("x", {DType::f32, {3}});
  const auto shifted = editor.op(Op::add, {x, editor.add_weight("b", f32_blob({0, bias, 0}, {3}))});
  const auto id =
      editor.add_opaque("mystery", opaque("p"), std::vector{shifted}, {{DType::f32, {2}}, {DType::i64, {5}}});
  const auto table = editor.add_weight("table", f32_blob({1, 2}, {2, 1}));
  editor.add_output("y", {id, 0});
  editor.add_output("rows", editor.op(Op::gather, {table, graph::Value{id, 1}}));
  return *editor.finish();
}

TEST(Opaque, InGraphs) {
  EXPECT_EQ(equivalence(guarded(0), guarded(0), 3, 1).max_abs_error, 0.0);
  const auto different = equivalence(guarded(0), guarded(1), 3, 1);
  EXPECT_TRUE(different.comparable) << different.reason;
  EXPECT_GT(different.max_rel_error, 1e-3);
  EXPECT_EQ(different.worst_output, "y");
}

// A file may state a shape that another spelling of the same model hides.
TEST(Opaque, OutputsBehindResultsOfOtherTypesAreIncomparable) {
  const auto graph_with = [](int64_t rows) {
    graph::Editor editor("g");
    const graph::Value x = editor.add_input("x", {DType::f32, {2}});
    const auto id = editor.add_opaque("", opaque("p"), std::array{x}, {ops::TensorType(DType::f32, {rows, 3})});
    editor.add_output("behind", editor.op(Op::relu, {graph::Value{id, 0}}));
    editor.add_output("beside", editor.op(Op::relu, {x}));
    return *editor.finish();
  };
  const auto before = unknown_types(graph_with(2));
  EXPECT_EQ(incomparable_outputs(before, graph_with(4)), (std::set<std::string>{"behind"}));
  EXPECT_TRUE(incomparable_outputs(before, graph_with(2)).empty());
}

// What a file's reader computes of constants depends on how the file spells them.
TEST(Opaque, OutputsOfConstantsThatWereWorkedOutAreIncomparable) {
  const auto graph_with = [](bool worked_out) {
    graph::Editor editor("g");
    const graph::Value x = editor.add_input("x", {DType::f32, {2}});
    graph::Value scale = editor.add_weight("scale", f32_blob({1, 2}, {2}));
    if (!worked_out) scale = {editor.add_opaque("", opaque("p"), std::array{scale}, {{DType::f32, {2}}}), 0};
    editor.add_output("scaled", editor.op(Op::mul, {x, scale}));
    editor.add_output("beside", editor.op(Op::relu, {x}));
    return *editor.finish();
  };
  const auto before = unknown_types(graph_with(false));
  EXPECT_EQ(incomparable_outputs(before, graph_with(true)), (std::set<std::string>{"scaled"}));
  EXPECT_TRUE(incomparable_outputs(before, graph_with(false)).empty());
}

// With a condition that is computed, one branch stands in an If's place.
TEST(Opaque, OutputsOfBranchesThatWereTakenAreIncomparable) {
  enum class How { by_input, by_constants, taken };
  const auto graph_with = [](How how) {
    graph::Editor editor("g");
    const graph::Value x = editor.add_input("x", {DType::f32, {2}}), c = editor.add_input("c", {DType::f32, {2}});
    const graph::Value sum = editor.op(Op::neg, {editor.add_weight("w", f32_blob({1, 2}, {2}))});
    graph::Opaque one;
    one.op_type = how == How::taken ? "Loop" : "If";
    one.payload = "p";
    one.formal_inputs = {true, true};
    one.outputs = {"0"};
    const auto id = editor.add_opaque("", std::make_shared<graph::Opaque>(one),
                                      std::array{how == How::by_input ? c : sum, x}, {{DType::f32, {2}}});
    editor.add_output("chosen", editor.op(Op::relu, {graph::Value{id, 0}}));
    editor.add_output("beside", editor.op(Op::relu, {x}));
    return *editor.finish();
  };
  const auto before = unknown_types(graph_with(How::by_constants));
  EXPECT_EQ(incomparable_outputs(before, graph_with(How::taken)), (std::set<std::string>{"chosen"}));
  EXPECT_TRUE(incomparable_outputs(before, graph_with(How::by_constants)).empty());
  EXPECT_TRUE(incomparable_outputs(unknown_types(graph_with(How::by_input)), graph_with(How::taken)).empty());
}

}  // namespace
}  // namespace rlgo::verify

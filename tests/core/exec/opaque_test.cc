// Operators that rlgo does not know stand for seeded functions of all their inputs.
#include "core/exec/equivalence.h"
#include "core/exec/interpreter.h"
#include "core/exec/unknown_types.h"
#include "tests/core/exec/graphs.h"

namespace rlgo::exec {
namespace {

using ops::DType;

at::Tensor run_opaque(const Tensors& in, const ops::TensorType& out, const std::string& payload = "p") {
  const c10::InferenceMode inference;
  graph::NodeInfo info;
  info.op = Op::opaque;
  info.opaque = opaque(payload);
  info.outputs = {out};
  return run_kernel(Call{.in = in, .info = info}).at(0);
}

TEST(Opaque, IsDeterministicAndFollowsItsPayload) {
  const ops::TensorType out(DType::f32, {2, 3});
  const Tensors in{numbers({1, 2, 3}, {3})};
  const auto y = run_opaque(in, out);
  EXPECT_TRUE(at::equal(y, run_opaque(in, out)));
  EXPECT_GT((y - run_opaque(in, out, "q")).abs().max().item<double>(), 0.1);
}

TEST(Opaque, EveryElementAndTheOrderOfInputsMatter) {
  const ops::TensorType out(DType::f32, {4});
  const auto a = numbers({1, 2, 3}, {3}), b = numbers({4, 5, 6}, {3});
  const auto y = run_opaque({a, b}, out);
  const auto moved = [&](const Tensors& in) { return (run_opaque(in, out) - y).abs().max().item<double>(); };
  EXPECT_GT(moved({b, a}), 1e-3);
  EXPECT_GT(moved({numbers({2, 1, 3}, {3}), b}), 1e-3);
  EXPECT_GT(moved({a, numbers({4, 5, 6.5}, {3})}), 1e-3);
  EXPECT_LT(moved({a, numbers({4, 5, 6.000001}, {3})}), 1e-5);  // smooth: rounding noise stays noise
}

TEST(Opaque, UnknownShapesAndOddTypes) {
  EXPECT_EQ(run_opaque({}, ops::TensorType(DType::f32, {ops::kUnknown, 3})).sizes().vec(),
            (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(run_opaque({}, ops::TensorType::unranked(DType::f16)).dim(), 0);
  EXPECT_EQ(run_opaque({}, ops::TensorType(DType::other, {})).numel(), 1);
  const auto integers = run_opaque({}, ops::TensorType(DType::i64, {100}));
  EXPECT_EQ(integers.min().item<int64_t>(), 0);
  EXPECT_EQ(integers.max().item<int64_t>(), kIndexBound - 1);
  EXPECT_EQ(run_opaque({}, ops::TensorType(DType::boolean, {100})).sum().item<int64_t>() % 100 != 0, true);
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

// A file may tell a shape that another spelling of the same model hides.
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
}  // namespace rlgo::exec

#include "core/exec/interpreter.h"

#include "core/graph/editor.h"
#include "tests/core/exec/calls.h"
#include "tests/core/exec/graphs.h"

namespace rlgo::exec {
namespace {

using graph::Editor;
using graph::Graph;
using graph::Value;

TEST(Interpreter, SmallGraphByHand) {
  const Interpreter interpreter(linear_graph({1, 0, 0, 1}, {10, -100}));
  const auto out = interpreter.run({{"x", numbers({1, 2, 3, 4}, {2, 2})}});
  ASSERT_EQ(out.size(), 1u);
  expect_values(out.at("y"), {11, 0, 13, 0});
}

TEST(Interpreter, ReportsMissingAndMisshapenInputs) {
  const Interpreter interpreter(linear_graph({1, 0, 0, 1}, {0, 0}));
  EXPECT_THROW(interpreter.run({}), Error);
  try {
    interpreter.run({{"x", numbers({1, 2}, {1, 2})}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "graph 'linear': input 'x' is f32[1,2], not f32[2,2]");
  }
  EXPECT_THROW(interpreter.run({{"x", integers({1, 2, 3, 4}, {2, 2})}}), Error);
}

// x -> neg -> relu -> ... 100 times; the deadline comes at the fourth look.
TEST(Interpreter, LooksAtItsDeadlineBeforeEachOperator) {
  Editor editor("chain");
  Value last = editor.add_input("x", {ops::DType::f32, {2}});
  for (int k = 0; k < 100; ++k) last = editor.op(k % 2 == 0 ? Op::neg : Op::relu, {last});
  editor.add_output("y", last);
  int asked = 0;
  const Deadline third([&] { return ++asked > 3 ? 0.0 : 1.0; });
  const Interpreter interpreter(*editor.finish(), {.deadline = third});
  EXPECT_THROW(interpreter.run({{"x", numbers({1, 2}, {2})}}), Stopped);
  EXPECT_EQ(asked, 4);
}

TEST(Interpreter, RunsAgainWithTheSameResult) {
  const Interpreter interpreter(linear_graph({1, 2, 3, 4}, {0, 0}));
  const auto inputs = random_inputs(interpreter.graph(), 5);
  EXPECT_TRUE(at::equal(interpreter.run(inputs).at("y"), interpreter.run(inputs).at("y")));
}

TEST(Interpreter, OneValueMayBeReadTwiceAndBeAnOutput) {
  Editor editor("diamond");
  const auto x = editor.add_input("x", {ops::DType::f32, {2}});
  const auto square = editor.op(Op::mul, {x, x});
  editor.add_output("square", square);
  editor.add_output("sum", editor.op(Op::add, {square, editor.op(Op::neg, {x})}));
  editor.add_output("x again", x);
  const auto out = Interpreter(*editor.finish()).run({{"x", numbers({3, -1}, {2})}});
  expect_values(out.at("square"), {9, 1});
  expect_values(out.at("sum"), {6, 2});
  expect_values(out.at("x again"), {3, -1});
}

TEST(Interpreter, SplitOutputsGoToTheirReaders) {
  Editor editor("split");
  const auto x = editor.add_input("x", {ops::DType::f32, {3}});
  const auto parts = editor.add(Op::split, std::vector{x}, {{Attr::axis, int64_t{0}}, {Attr::sizes, Ints{1, 2}}});
  editor.add_output("tail", editor.op(Op::neg, {graph::Value{parts, 1}}));
  editor.add_output("head", {parts, 0});
  const auto out = Interpreter(*editor.finish()).run({{"x", numbers({1, 2, 3}, {3})}});
  expect_values(out.at("head"), {1});
  expect_values(out.at("tail"), {-2, -3});
}

TEST(Interpreter, SharesWeights) {
  const auto store = std::make_shared<WeightStore>();
  const InterpreterOptions options{{}, store};
  const Interpreter first(linear_graph({1, 2, 3, 4}, {0, 0}), options),
      second(linear_graph({1, 2, 3, 4}, {5, 5}), options);
  EXPECT_EQ(store->size(), 3u);  // one matrix, two biases
}

TEST(Interpreter, AbsentWeightsAreAnError) {
  Editor editor("absent");
  const auto x = editor.add_input("x", {ops::DType::f32, {2}});
  const auto w = editor.add_weight("w", graph::Blob::absent({ops::DType::f32, {2}}, 77));
  editor.add_output("y", editor.op(Op::add, {x, w}));
  EXPECT_THROW(Interpreter{*editor.finish()}, Error);
}

TEST(Interpreter, AKernelErrorNamesTheCall) {
  Editor editor("gather");
  const auto table = editor.add_input("table", {ops::DType::f32, {3, 2}});
  const auto ids = editor.add_input("ids", {ops::DType::i64, {1}});
  editor.add_output("y", editor.op(Op::gather, {table, ids}));
  const Interpreter interpreter(*editor.finish());
  try {
    interpreter.run({{"table", at::zeros({3, 2})}, {"ids", integers({9}, {1})}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("gather(f32[3,2], i64[1]) axis=0: ")) << error.what();
  }
}

TEST(Interpreter, AnInputNodeHasNoKernel) {
  graph::NodeInfo info;
  info.op = Op::input;
  info.outputs = {{ops::DType::f32, {1}}};
  EXPECT_THROW(run_kernel(Call{.in = {}, .info = info}), Error);
}

TEST(RandomInputs, IntegersStayInsideTheTablesThatTheyIndex) {
  Editor editor("embedding");
  const auto ids = editor.add_input("ids", {ops::DType::i64, {64}});
  const auto free = editor.add_input("free", {ops::DType::i64, {64}});
  const auto small = editor.add_weight("small", f32_blob({1, 2, 3}, {3, 1}));
  const auto column = editor.op(Op::cast, {editor.op(Op::reshape, {ids}, {{Attr::shape, Ints{64, 1}}})},
                                {{Attr::to, std::string("i32")}});
  editor.add_output("y", editor.op(Op::gather, {small, column}));
  editor.add_output("z", editor.op(Op::neg, {editor.op(Op::cast, {free}, {{Attr::to, std::string("f32")}})}));
  const Graph graph = *editor.finish();
  const auto inputs = random_inputs(graph, 1);
  EXPECT_EQ(inputs.at("ids").max().item<int64_t>(), 2);
  EXPECT_EQ(inputs.at("ids").min().item<int64_t>(), 0);
  EXPECT_EQ(inputs.at("free").max().item<int64_t>(), kIndexBound - 1);
  EXPECT_EQ(Interpreter(graph).run(inputs).at("y").size(0), 64);
}

TEST(RandomInputs, FollowNameSeedAndMagnitude) {
  const Graph graph = linear_graph({1, 0, 0, 1}, {0, 0});
  const auto a = random_inputs(graph, 1).at("x");
  EXPECT_TRUE(at::equal(a, random_inputs(graph, 1).at("x")));
  EXPECT_FALSE(at::equal(a, random_inputs(graph, 2).at("x")));
  expect_near(random_inputs(graph, 1, 16.0).at("x"), a * 16);
}

}  // namespace
}  // namespace rlgo::exec

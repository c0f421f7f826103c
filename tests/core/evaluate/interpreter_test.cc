#include "core/evaluate/interpreter.h"

#include <gtest/gtest.h>

#include <array>

#include "core/graph/editor.h"

namespace rlgo::evaluate {
namespace {

using graph::Editor;
using graph::Value;
using ops::Attr;
using ops::DType;
using ops::Ints;
using ops::Op;

Tensor numbers(const std::vector<float>& values, const ops::Shape& shape) {
  Tensor out(DType::f32, shape);
  std::ranges::copy(values, out.data<float>());
  return out;
}
template <typename T = float>
std::vector<T> elements(const Tensor& x) {
  return {x.data<T>(), x.data<T>() + x.elements()};
}
std::shared_ptr<const graph::Blob> blob(const std::vector<float>& values, const ops::Shape& shape) {
  return graph::Blob::bytes({DType::f32, shape},
                            std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}
graph::Graph linear(const std::vector<float>& matrix, const std::vector<float>& bias) {
  Editor editor("linear");
  const auto x = editor.add_input("x", {DType::f32, {2, 2}});
  const auto product = editor.op(Op::matmul, {x, editor.add_weight("w", blob(matrix, {2, 2}))});
  editor.add_output("y", editor.op(Op::relu, {editor.op(Op::add, {product, editor.add_weight("b", blob(bias, {2}))})}));
  return *editor.finish();
}

TEST(EvaluateInterpreter, SmallGraphByHand) {
  const Interpreter interpreter(linear({1, 0, 0, 1}, {10, -100}));
  const TensorMap inputs{{"x", numbers({1, 2, 3, 4}, {2, 2})}};
  EXPECT_EQ(elements(interpreter.run(inputs).at("y")), (std::vector<float>{11, 0, 13, 0}));
  EXPECT_EQ(elements(interpreter.run(inputs).at("y")), (std::vector<float>{11, 0, 13, 0}));
}

TEST(EvaluateInterpreter, ReportsMissingAndMisshapenInputs) {
  const Interpreter interpreter(linear({1, 0, 0, 1}, {0, 0}));
  EXPECT_THROW(interpreter.run({}), Error);
  EXPECT_THROW(interpreter.run({{"x", Tensor(DType::i64, {2, 2})}}), Error);
  try {
    interpreter.run({{"x", numbers({1, 2}, {1, 2})}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "graph 'linear': input 'x' is f32[1,2], not f32[2,2]");
  }
}

// Long axes change places in tiles, whole ones and parts, whatever lies around them.
TEST(EvaluateInterpreter, TransposesLongAxes) {
  const ops::Shape shape{3, 40, 2, 33};
  std::vector<float> values(3 * 40 * 2 * 33);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k);
  for (const Ints& perm : {Ints{0, 3, 2, 1}, Ints{3, 2, 0, 1}, Ints{2, 3, 0, 1}, Ints{3, 0, 1, 2}, Ints{1, 0, 2, 3}}) {
    Editor editor("transposed");
    editor.add_output("y",
                      editor.op(Op::transpose, {editor.add_input("x", {DType::f32, shape})}, {{Attr::perm, perm}}));
    const auto y = elements(Interpreter(*editor.finish()).run({{"x", numbers(values, shape)}}).at("y"));
    std::array<int64_t, 4> extents{};
    for (size_t d = 0; d < 4; ++d) extents[d] = shape[static_cast<size_t>(perm[d])];
    const std::array<int64_t, 4> steps{40 * 2 * 33, 2 * 33, 33, 1};
    for (size_t k = 0; k < y.size(); ++k) {
      int64_t rest = static_cast<int64_t>(k), place = 0;
      for (size_t d = 4; d-- > 0; rest /= extents[d]) place += rest % extents[d] * steps[static_cast<size_t>(perm[d])];
      ASSERT_EQ(y[k], static_cast<float>(place)) << perm[0] << perm[1] << perm[2] << perm[3] << " " << k;
    }
  }
}

TEST(EvaluateInterpreter, ConstantsAreComputedInDoublePrecisionAndRoundedOnce) {
  Editor editor("tiny");
  const auto x = editor.add_input("x", {DType::f32, {1}});
  const auto tiny = editor.op(Op::fill, {}, {{Attr::shape, Ints{1}}, {Attr::value, 1e-12}});
  const auto one = editor.op(Op::fill, {}, {{Attr::shape, Ints{1}}, {Attr::value, 1.0}});
  const auto left = editor.op(Op::sub, {editor.op(Op::add, {one, tiny}), one});
  editor.add_output("y", editor.op(Op::mul, {x, left}));
  const auto graph = *editor.finish();
  const TensorMap inputs{{"x", numbers({1}, {1})}};
  EXPECT_NEAR(elements(Interpreter(graph).run(inputs).at("y"))[0], 1e-12, 1e-15);
  EXPECT_NEAR(elements<double>(Interpreter(graph, {.precision = Precision::f64, .weights = {}}).run(inputs).at("y"))[0],
              1e-12, 1e-15);
}

// 2 MiB each in double precision, 1 MiB in single precision: kept so, and read as doubles.
TEST(EvaluateInterpreter, ManyWeightsAreMadeDoubleWhereTheyAreRead) {
  Editor editor("large");
  const ops::Shape shape{512, 513};
  const auto w = editor.add_weight("w", blob(std::vector<float>(512 * 513, 1.0F / 3), shape));
  editor.add_output("y", editor.op(Op::add, {w, editor.add_input("x", {DType::f32, shape})}));
  editor.add_output("w", w);
  const auto store = std::make_shared<WeightStore>();
  const Interpreter interpreter(*editor.finish(), {Precision::f64, store, 1 << 20});
  store->load(*blob(std::vector<float>(512 * 513, 1.0F / 3), shape), DType::f32);
  EXPECT_EQ(store->size(), 1U) << "the weight is there in another type";
  const auto out = interpreter.run({{"x", numbers(std::vector<float>(512 * 513, 0), shape)}});
  EXPECT_EQ(out.at("y").data<double>()[0], static_cast<double>(1.0F / 3));
  EXPECT_EQ(out.at("w").data<double>()[0], static_cast<double>(1.0F / 3));
}

// What a product alone reads is kept as it is, and widened as it is read; what another operator reads, too, is made
// double.
TEST(EvaluateInterpreter, WeightsOfProductsStayNarrow) {
  const ops::Shape shape{512, 512};  // 1 MiB
  const auto third = blob(std::vector<float>(512 * 512, 1.0F / 3), shape);
  for (const DType kept : {DType::f32, DType::f64}) {
    Editor editor("large");
    const auto x = editor.add_input("x", {DType::f32, shape}), w = editor.add_weight("w", third);
    editor.add_output("y", editor.op(Op::matmul, {x, w}));
    if (kept == DType::f64) editor.add_output("z", editor.op(Op::add, {x, w}));
    const auto store = std::make_shared<WeightStore>();
    const Interpreter interpreter(*editor.finish(), {.precision = Precision::f64, .weights = store});
    store->load(*third, kept);
    EXPECT_EQ(store->size(), 1U) << "the weight is there in another type";
    const auto out = interpreter.run({{"x", numbers(std::vector<float>(512 * 512, 1), shape)}});
    EXPECT_NEAR(out.at("y").data<double>()[0], 512 * static_cast<double>(1.0F / 3), 1e-11);
  }
}

TEST(EvaluateInterpreter, FreesValuesAfterTheirLastUseAndShowsThemBefore) {
  Editor editor("chain");
  Value last = editor.add_input("x", {DType::f32, {2}});
  for (int k = 0; k < 4; ++k) last = editor.op(Op::neg, {last});
  editor.add_output("y", last);
  std::vector<std::weak_ptr<void>> seen;
  size_t alive = 0;
  const auto out = Interpreter(*editor.finish()).run({{"x", numbers({1, 2}, {2})}}, [&](Value, Tensor& tensor) {
    alive = std::max(alive, static_cast<size_t>(std::ranges::count_if(seen, [](auto& w) { return !w.expired(); })));
    seen.push_back(tensor.storage());
    if (seen.size() == 1) tensor = numbers({5, 6}, {2});
  });
  EXPECT_LE(alive, 1U);
  EXPECT_EQ(elements(out.at("y")), (std::vector<float>{-5, -6}));
}

TEST(EvaluateInterpreter, LooksAtItsDeadlineBeforeEachOperator) {
  Editor editor("chain");
  Value last = editor.add_input("x", {DType::f32, {2}});
  for (int k = 0; k < 100; ++k) last = editor.op(k % 2 == 0 ? Op::neg : Op::relu, {last});
  editor.add_output("y", last);
  int made = 0;
  bool over = false;
  const Interpreter interpreter(*editor.finish(), {.weights = {}, .deadline = Deadline::when([&] { return over; })});
  EXPECT_THROW(interpreter.run({{"x", numbers({1, 2}, {2})}}, [&](Value, Tensor&) { over = ++made == 3; }), Stopped);
  EXPECT_EQ(made, 3);
}

TEST(EvaluateInterpreter, AbsentWeightsAreAnError) {
  Editor editor("absent");
  const auto x = editor.add_input("x", {DType::f32, {2}});
  const auto w = editor.add_weight("w", graph::Blob::absent({DType::f32, {2}}, 77));
  editor.add_output("y", editor.op(Op::add, {x, w}));
  EXPECT_THROW(Interpreter{*editor.finish()}, Error);
}

TEST(EvaluateInterpreter, AKernelErrorNamesTheCall) {
  Editor editor("gather");
  const auto table = editor.add_input("table", {DType::f32, {3, 2}});
  const auto ids = editor.add_input("ids", {DType::i64, {1}});
  editor.add_output("y", editor.op(Op::gather, {table, ids}));
  Tensor nine(DType::i64, {1});
  *nine.data<int64_t>() = 9;
  try {
    Interpreter(*editor.finish()).run({{"table", Tensor(DType::f32, {3, 2})}, {"ids", nine}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "gather(f32[3,2], i64[1]) axis=0: index 9 is outside of an axis of 3");
  }
}

}  // namespace
}  // namespace rlgo::evaluate

// The rules' evaluator and the kernels that run graphs must mean the same by every operator.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/exec/interpreter.h"
#include "core/graph/editor.h"
#include "core/graph/text.h"
#include "core/ops/windows.h"
#include "core/rulegen/check/input_values.h"
#include "core/rules/random_attributes.h"

namespace rlgo {
namespace {

using ops::Attr;
using ops::Op;

// A graph of one operator with random operands and attributes; all operands are inputs.
std::optional<graph::Graph> random_call(Op op, Rng& rng) {
  rules::RandomAttributes random(rng);
  if (ops::has_windows(op)) random.vary_axes();
  rules::Draft draft;
  draft.op = op;
  const auto& spec = ops::spec(op);
  const int most = std::min(spec.max_inputs, spec.min_inputs + 2);
  draft.types.resize(static_cast<size_t>(spec.min_inputs) +
                     rng.below(static_cast<uint64_t>(most - spec.min_inputs + 1)));
  if (op == Op::gather) {
    draft.types = {ops::TensorType(ops::DType::f32, {3, 4, 2}), ops::TensorType(ops::DType::i64, {2, 3})};
  }
  if (op == Op::gather_elements)
    draft.types = {ops::TensorType(ops::DType::f32, {3, 4, 2}), ops::TensorType(ops::DType::i64, {2, 3, 2})};
  if (op == Op::layer_norm || op == Op::rms_norm) {
    draft.types[0] = ops::TensorType(ops::DType::f32, {2, 3, 4});
    draft.attrs.set(Attr::axis, static_cast<int64_t>(1 + rng.below(2)));
    const ops::Shape normal = draft.attrs.i(Attr::axis) == 1 ? ops::Shape{3, 4} : ops::Shape{4};
    for (size_t k = 1; k < draft.types.size(); ++k) draft.types[k] = ops::TensorType(ops::DType::f32, normal);
  }
  if (op == Op::fill || op == Op::literal) draft.attrs.set(Attr::shape, ops::Ints{2, 3});
  if (op == Op::literal) draft.attrs.set(Attr::values, ops::Ints{1, 0, -5, 4, 2, 24});
  if (!random.complete(draft)) return std::nullopt;
  graph::Editor editor("call");
  std::vector<graph::Value> inputs;
  for (const auto& type : draft.types) inputs.push_back(editor.add_input("x" + std::to_string(inputs.size()), *type));
  const auto id = editor.try_add(op, inputs, draft.attrs);
  if (!id) return std::nullopt;
  for (size_t p = 0; p < editor.node(*id).info->outputs.size(); ++p) {
    editor.add_output("y" + std::to_string(p), {*id, static_cast<int32_t>(p)});
  }
  return editor.finish();
}

at::Tensor tensor_of(const rulegen::TensorOf<rulegen::PrimeRing>& values) {
  const std::vector<int64_t> sizes(values.type.shape.begin(), values.type.shape.end());
  auto tensor = at::empty(sizes, at::kDouble);
  for (size_t k = 0; k < values.data.size(); ++k) tensor.data_ptr<double>()[k] = values.data[k].real;
  return values.type.dtype == ops::DType::i64 ? tensor.to(at::kLong) : tensor.to(at::kFloat);
}

class Kernels : public testing::TestWithParam<Op> {};

TEST_P(Kernels, AgreeWithTheEvaluator) {
  Rng rng({42, static_cast<uint64_t>(GetParam())});
  constexpr int kEnough = 60;
  int compared = 0;
  for (int attempt = 0; attempt < 5000 && compared < kEnough; ++attempt) {
    const auto graph = random_call(GetParam(), rng);
    if (!graph) continue;
    rulegen::PrimeRing ring(3);
    const rulegen::InputValues plan(*graph);
    const rulegen::Draw draw{rng.next(), 50};
    exec::TensorMap inputs;
    const rulegen::Leaves<rulegen::PrimeRing> leaves = [&](const graph::Graph& g, graph::NodeId id) {
      auto values = plan.prime(ring, draw, g, id);
      inputs[g.node(id).info->name] = tensor_of(values);
      return values;
    };
    const auto outputs = rulegen::eval_graph<rulegen::PrimeRing>(ring, *graph, leaves);
    ASSERT_TRUE(outputs) << graph::to_text(*graph);
    const auto run = exec::Interpreter(*graph).run(inputs);
    for (size_t p = 0; p < outputs->size(); ++p) {
      const auto expected = run.at(graph->outputs()[p].name).to(at::kDouble),
                 got = tensor_of((*outputs)[p]).to(at::kDouble);
      ASSERT_EQ(expected.sizes(), got.sizes());
      ASSERT_TRUE(at::allclose(expected, got, 1e-4, 1e-5)) << graph::to_text(*graph) << expected << got;
    }
    ++compared;
  }
  EXPECT_EQ(compared, kEnough);
}

// Operators that the evaluator does not know: no rule that has them is proved.
constexpr Op kUnknown[] = {Op::where,
                           Op::equal,
                           Op::less,
                           Op::less_equal,
                           Op::logical_and,
                           Op::logical_or,
                           Op::logical_not,
                           Op::mod,
                           Op::arg_max,
                           Op::arg_min,
                           Op::thresholded_relu,
                           Op::gather_nd,
                           Op::one_hot,
                           Op::scatter_nd,
                           Op::scatter_elements,
                           Op::recurrent};

std::vector<Op> computing() {
  std::vector<Op> all;
  for (Op op : ops::all_ops()) {
    const bool leaf = op == Op::input || op == Op::weight || op == Op::opaque;
    if (!leaf && std::ranges::find(kUnknown, op) == std::end(kUnknown)) all.push_back(op);
  }
  return all;
}

TEST(Evaluator, ReportsWhatItDoesNotKnow) {
  int tried = 0;
  for (const Op op : kUnknown) {
    Rng rng({7, static_cast<uint64_t>(op)});
    for (int attempt = 0; attempt < 300; ++attempt) {
      const auto graph = random_call(op, rng);
      if (!graph) continue;
      rulegen::PrimeRing ring(3);
      const rulegen::InputValues plan(*graph);
      const rulegen::Draw draw{rng.next(), 50};
      const rulegen::Leaves<rulegen::PrimeRing> leaves = [&](const graph::Graph& g, graph::NodeId id) {
        return plan.prime(ring, draw, g, id);
      };
      EXPECT_FALSE(rulegen::eval_graph<rulegen::PrimeRing>(ring, *graph, leaves)) << ops::name(op);
      ++tried;
    }
  }
  EXPECT_GT(tried, 50);
}

INSTANTIATE_TEST_SUITE_P(Ops, Kernels, testing::ValuesIn(computing()),
                         [](const auto& test) { return std::string(ops::name(test.param)); });

// Whole numbers in, whole numbers out: the field elements are the images of what floats compute exactly.
TEST(Field, IsTheImageOfExactArithmetic) {
  const auto graph = graph::from_text(
      "graph \"g\"\n%0 = input \"x\" : f32[1,4,5,5]\n%1 = input \"w\" : f32[4,2,3,3]\n"
      "%2 = conv2d(%0, %1) group=2 pads=[1,0,1,2] strides=[2,1] act=relu\n%3 = max_pool(%2) kernel=[2,2]\n"
      "%4 = reduce_sum(%3) axes=[1]\noutput \"y\" = %4\n");
  rulegen::PrimeRing ring(1);
  exec::TensorMap inputs;
  const rulegen::Leaves<rulegen::PrimeRing> leaves = [&](const graph::Graph& g, graph::NodeId id) {
    rulegen::TensorOf<rulegen::PrimeRing> values;
    values.type = g.type({id, 0});
    for (int64_t k = 0; k < values.type.elements(); ++k) values.data.push_back(ring.integer(k * 37 % 11 - 5));
    inputs[g.node(id).info->name] = tensor_of(values);
    return values;
  };
  const auto outputs = rulegen::eval_graph<rulegen::PrimeRing>(ring, graph, leaves);
  ASSERT_TRUE(outputs);
  const auto run = exec::Interpreter(graph).run(inputs).at("y").contiguous();
  ASSERT_EQ(static_cast<size_t>(run.numel()), (*outputs)[0].data.size());
  for (int64_t k = 0; k < run.numel(); ++k) {
    EXPECT_EQ(ring.whole((*outputs)[0].data[k]), static_cast<int64_t>(run.data_ptr<float>()[k]));
  }
}

}  // namespace
}  // namespace rlgo

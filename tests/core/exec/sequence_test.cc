// Attention and recurrent networks against numbers of ONNX Runtime 1.31, in both evaluators.
#include "core/evaluate/kernels.h"
#include "tests/core/exec/calls.h"

namespace rlgo::exec {
namespace {

// (7k mod 11 - 5 + shift) / 10
at::Tensor pattern(const std::vector<int64_t>& shape, int64_t shift) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(static_cast<double>(k * 7 % 11 - 5 + shift) / 10);
  return numbers(values, shape);
}

// Two steps, one sequence, two inputs and two units.
Tensors recurrent_inputs(int64_t gates, int64_t directions) {
  const int64_t rows = 2 * gates;
  Tensors in{pattern({2, 1, 2}, 0), pattern({directions, rows, 2}, 1), pattern({directions, rows, 2}, -1),
             pattern({directions, 2 * rows}, 2), pattern({directions, 1, 2}, 3)};
  if (gates == 4) in.push_back(pattern({directions, 1, 2}, -2));
  return in;
}

Tensors without_libtorch(Op op, const Tensors& in, const Attrs& attrs) {
  ops::Types types;
  evaluate::Tensors held;
  for (const auto& tensor : in) {
    types.push_back(type_of(tensor));
    held.push_back(from_torch(tensor));
  }
  const auto info = info_of(op, types, attrs);
  Tensors out;
  for (const auto& tensor : evaluate::run_kernel({.in = held, .info = info})) out.push_back(to_torch(tensor));
  return out;
}

void expect_outputs(Op op, const Tensors& in, const Attrs& attrs, const std::vector<std::vector<double>>& expected) {
  for (const auto& out : {call_all(op, in, attrs), without_libtorch(op, in, attrs)}) {
    ASSERT_EQ(out.size(), expected.size());
    for (size_t p = 0; p < out.size(); ++p) expect_values(out[p], expected[p], 2e-6);
  }
}

Attrs gates(int64_t count, int64_t reverse = 0, int64_t after = 0) {
  return {{Attr::gates, count}, {Attr::reverse, reverse}, {Attr::reset_after, after}};
}

TEST(RecurrentKernel, OneDirection) {
  expect_outputs(Op::recurrent, recurrent_inputs(4, 1), gates(4),
                 {{-0.074122, 0.064277, 0.114619, 0.211318}, {0.114619, 0.211318}, {0.241618, 0.382137}});
  expect_outputs(Op::recurrent, recurrent_inputs(3, 1), gates(3),
                 {{0.06906, 0.213512, 0.264796, -0.009393}, {0.264796, -0.009393}});
  expect_outputs(Op::recurrent, recurrent_inputs(1, 1), gates(1),
                 {{0.129273, 0.910424, -0.056461, 0.940848}, {-0.056461, 0.940848}});
}

TEST(RecurrentKernel, FromTheLastStep) {
  expect_outputs(Op::recurrent, recurrent_inputs(3, 1), gates(3, 1, 1),
                 {{0.228864, 0.025979, 0.060566, 0.238381}, {0.228864, 0.025979}});
  expect_outputs(Op::recurrent, recurrent_inputs(1, 1), gates(1, 1),
                 {{-0.006515, 0.923638, 0.099668, 0.932862}, {-0.006515, 0.923638}});
}

TEST(RecurrentKernel, TwoDirections) {
  expect_outputs(Op::recurrent, recurrent_inputs(4, 2), gates(4),
                 {{-0.074122, 0.064277, -0.39978, 0.419873, 0.114619, 0.211318, -0.329013, 0.298407},
                  {0.114619, 0.211318, -0.39978, 0.419873},
                  {0.241618, 0.382137, -0.940693, 1.015549}});
}

TEST(AttentionKernel, ByHand) {
  const double third = std::log(3.0);
  const auto q = numbers({1, 0, 0, 1}, {1, 1, 2, 2}), k = numbers({third, 0, 0, third}, {1, 1, 2, 2}),
             v = numbers({4, 8}, {1, 1, 2, 1});
  expect_outputs(Op::attention, {q, k, v}, {{Attr::scale, 1.0}}, {{5, 7}});
  expect_outputs(Op::attention, {q, k, v}, {{Attr::scale, 1.0}, {Attr::causal, int64_t{1}}}, {{4, 7}});
  expect_outputs(Op::attention, {q, k, v, numbers({0, third, 0, 0}, {2, 2})}, {{Attr::scale, 1.0}}, {{6, 7}});
  const auto mask = at::tensor({1, 1, 1, 0}, at::kInt).to(at::kBool).reshape({2, 2});
  expect_outputs(Op::attention, {q, k, v, mask}, {{Attr::scale, 1.0}}, {{5, 4}});
  const double capped = std::exp(0.5 * std::tanh(2 * third));
  expect_outputs(Op::attention, {q, k, v}, {{Attr::scale, 1.0}, {Attr::softcap, 0.5}},
                 {{(4 * capped + 8) / (capped + 1), (4 + 8 * capped) / (capped + 1)}});
}

// Two heads of queries in the last axis share one head of keys and values.
TEST(AttentionKernel, SharedHeadsInTheLastAxis) {
  const double third = std::log(3.0);
  const auto q = numbers({1, 0}, {1, 1, 2}), k = numbers({third, 0}, {1, 2, 1}), v = numbers({4, 8}, {1, 2, 1});
  expect_outputs(Op::attention, {q, k, v},
                 {{Attr::scale, 1.0}, {Attr::heads, int64_t{2}}, {Attr::kv_heads, int64_t{1}}}, {{5, 6}});
}

}  // namespace
}  // namespace rlgo::exec

#include "core/nets/graph_ops.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>

#include "core/base/rng.h"
#include "core/nets/dense.h"
#include "core/nets/score_rows.h"

namespace rlgo::nets {
namespace {

Tensor ints(std::vector<int64_t> values) { return torch::tensor(values, torch::kInt64); }
Tensor doubles(torch::IntArrayRef sizes, uint64_t seed) {
  Rng rng({seed});
  return normal_init(sizes, 1.0, rng).to(torch::kFloat64).requires_grad_();
}

// The kernel and LibTorch's own operations agree in value and in the gradient for each input.
void expect_same(const std::function<Tensor()>& kernel, const std::function<Tensor()>& reference,
                 const std::vector<Tensor>& inputs) {
  const auto a = kernel(), b = reference();
  ASSERT_TRUE(torch::allclose(a, b, 1e-12, 1e-12));
  const auto weights = doubles(a.sizes(), 99).detach();
  const auto grad_a = torch::autograd::grad({(a * weights).sum()}, inputs),
             grad_b = torch::autograd::grad({(b * weights).sum()}, inputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(torch::allclose(grad_a[i], grad_b[i], 1e-12, 1e-12)) << "input " << i;
}

TEST(AddRows, ByHand) {
  const auto table = torch::tensor({{1.0f, 2.0f}, {10.0f, 20.0f}});
  const auto sum = add_rows(torch::ones({3, 2}), {table, ints({1, 0, 1})}, {table, ints({0, 0, 1})});
  EXPECT_TRUE(torch::equal(sum, torch::tensor({{12.0f, 23.0f}, {3.0f, 5.0f}, {21.0f, 41.0f}})));
}

TEST(AddRows, AgreesWithReference) {
  const auto base = doubles({5, 3}, 1), a = doubles({4, 3}, 2), b = doubles({2, 3}, 3), wide = doubles({6, 9}, 4);
  const auto c = wide.split(3, 1)[1];  // rows with a stride
  const auto i = ints({0, 3, 3, 1, 0}), j = ints({1, 1, 0, 0, 1}), k = ints({5, 4, 3, 2, 5});
  expect_same(
      [&] {
        return add_rows(base, {a, i}, {b, j}, {c, k});
      },
      [&] {
        return native::add_rows(base, {a, i}, {b, j}, {c, k});
      },
      {base, a, b, wide});
  expect_same([&] { return add_rows({}, {a, i}); }, [&] { return native::add_rows({}, {a, i}); }, {a});
}

TEST(ScoreRows, AgreesWithReference) {
  const auto a = doubles({4, 19}, 1), b = doubles({2, 19}, 2), c = doubles({3, 19}, 3), features = doubles({5, 2}, 4);
  const auto directions = doubles({2, 19}, 5), w = doubles({19}, 6), bias = doubles({}, 7);
  const std::vector<Rows> tables = {{a, ints({0, 3, 3, 1, 0})}, {b, ints({1, 1, 0, 0, 1})}, {c, ints({2, 1, 0, 1, 2})}};
  const auto known = features.detach();
  expect_same([&] { return score_rows(tables, known, directions, w, bias); },
              [&] { return native::score_rows(tables, known, directions, w, bias); }, {a, b, c, directions, w, bias});
  const auto one = std::span(tables).first(1);
  expect_same([&] { return score_rows(one, {}, {}, w, bias); },
              [&] { return native::score_rows(one, {}, {}, w, bias); }, {a, w, bias});
}

TEST(LinkSum, AgreesWithReference) {
  const auto x = doubles({4, 3}, 8);
  const auto from = ints({0, 3, 3, 1, 0}), to = ints({1, 1, 0, 4, 1});
  expect_same([&] { return link_sum(x, from, to, 5); }, [&] { return native::link_sum(x, from, to, 5); }, {x});
}

TEST(CountedSum, AgreesWithReference) {
  const SparseCounts counts{ints({0, 2, 3}), ints({0, 2, 1}), ints({2, 1, 3}), ints({0, 0}), ints({0, 0, 1}), false};
  const SparseCounts chained{ints({0, 2, 5}), ints({0, 2, 0, 1, 2}), ints({2, 1, -2, 3, -1}),
                             ints({0, 1}),    ints({0, 0, 1, 1, 1}), true};
  const auto x = doubles({3, 4}, 9);
  expect_same([&] { return counted_sum(x, counts); }, [&] { return native::counted_sum(x, counts); }, {x});
  expect_same([&] { return counted_sum(x, chained); }, [&] { return native::counted_sum(x, counts); }, {x});
}

TEST(ScatterSum, AgreesWithReferenceAndLeavesZeros) {
  const auto x = doubles({4, 3}, 5);
  const auto index = ints({2, 0, 2, 2});
  expect_same([&] { return scatter_sum(x, index, 4); }, [&] { return native::scatter_sum(x, index, 4); }, {x});
  EXPECT_EQ(scatter_sum(x, index, 4)[1].abs().sum().item<double>(), 0.0);
  EXPECT_EQ(scatter_sum(torch::zeros({0, 3}), ints({}), 2).sum().item<float>(), 0.0f);
}

TEST(SegmentMax, AgreesWithReference) {
  const auto x = doubles({6, 3}, 6);
  const auto segment = ints({0, 0, 1, 2, 2, 2});
  expect_same([&] { return segment_max(x, segment, 3); }, [&] { return native::segment_max(x, segment, 3); }, {x});
}

TEST(SegmentLogSoftmax, AgreesWithReferenceAndSumsToOne) {
  const auto x = doubles({6}, 7);
  const auto segment = ints({0, 1, 1, 1, 2, 2});
  expect_same([&] { return segment_log_softmax(x, segment, 3); },
              [&] { return native::segment_log_softmax(x, segment, 3); }, {x});
  const auto sums = scatter_sum(segment_log_softmax(x, segment, 3).exp().unsqueeze(1), segment, 3);
  EXPECT_TRUE(torch::allclose(sums, torch::ones_like(sums)));
}

TEST(SegmentLogSoftmax, LargeLogitsDoNotOverflow) {
  const auto y = segment_log_softmax(torch::tensor({1000.0f, 1000.0f, -1000.0f}), ints({0, 0, 1}), 2);
  EXPECT_NEAR(y[0].item<float>(), -0.693147f, 1e-4);
  EXPECT_EQ(y[2].item<float>(), 0.0f);
}

}  // namespace
}  // namespace rlgo::nets

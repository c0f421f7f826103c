#include "tests/core/exec/calls.h"

namespace rlgo::exec {
namespace {

TEST(ShapeKernel, ConcatSplit) {
  const auto a = numbers({1, 2, 3, 4}, {2, 2}), b = numbers({5, 6}, {2, 1});
  const auto joined = call(Op::concat, {a, b}, {{Attr::axis, int64_t{1}}});
  expect_values(joined, {1, 2, 5, 3, 4, 6});
  const auto parts = call_all(Op::split, {joined}, {{Attr::axis, int64_t{1}}, {Attr::sizes, Ints{2, 0, 1}}});
  expect_near(parts[0], a);
  EXPECT_EQ(parts[1].numel(), 0);
  expect_near(parts[2], b);
}

TEST(ShapeKernel, TransposeReshape) {
  const auto x = numbers({1, 2, 3, 4, 5, 6}, {2, 3});
  expect_values(call(Op::transpose, {x}, {{Attr::perm, Ints{1, 0}}}), {1, 4, 2, 5, 3, 6});
  expect_values(call(Op::reshape, {x}, {{Attr::shape, Ints{3, 2}}}), {1, 2, 3, 4, 5, 6});
  const auto y = at::arange(24, at::kFloat).reshape({2, 3, 4});
  EXPECT_EQ(call(Op::transpose, {y}, {{Attr::perm, Ints{2, 0, 1}}})[3][1][2].item<double>(), y[1][2][3].item<double>());
}

TEST(ShapeKernel, SlicePad) {
  const auto x = numbers({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {2, 5});
  const Attrs every_other{
      {Attr::axes, Ints{0, 1}}, {Attr::starts, Ints{1, 0}}, {Attr::ends, Ints{2, 5}}, {Attr::steps, Ints{1, 2}}};
  expect_values(call(Op::slice, {x}, every_other), {6, 8, 10});
  expect_values(call(Op::pad, {numbers({1, 2}, {1, 2})}, {{Attr::pads, Ints{1, 0, 0, 1}}, {Attr::value, 7.0}}),
                {7, 7, 7, 1, 2, 7});
  expect_values(call(Op::pad, {integers({1}, {1})}, {{Attr::pads, Ints{0, 2}}}), {1, 0, 0});
}

TEST(ShapeKernel, GatherTakesNegativeIndices) {
  const auto table = numbers({1, 2, 3, 4, 5, 6}, {3, 2});
  expect_values(call(Op::gather, {table, integers({2, -3}, {2, 1})}), {5, 6, 1, 2});
  expect_values(call(Op::gather, {table, integers({1}, {})}, {{Attr::axis, int64_t{1}}}), {2, 4, 6});
  EXPECT_THROW(call(Op::gather, {table, integers({3}, {1})}), Error);
}

TEST(ShapeKernel, BlocksOfPixels) {
  const auto x = at::arange(8, at::kFloat).reshape({1, 8, 1, 1});
  const Attrs rows{{Attr::blocksize, int64_t{2}}, {Attr::mode, std::string("DCR")}};
  const Attrs columns{{Attr::blocksize, int64_t{2}}, {Attr::mode, std::string("CRD")}};
  expect_values(call(Op::depth_to_space, {x}, rows), {0, 2, 4, 6, 1, 3, 5, 7});
  expect_values(call(Op::depth_to_space, {x}, columns), {0, 1, 2, 3, 4, 5, 6, 7});
  expect_near(call(Op::space_to_depth, {call(Op::depth_to_space, {x}, rows)}, {{Attr::blocksize, int64_t{2}}}), x);
}

TEST(ShapeKernel, GatherAndScatterByPlaces) {
  const auto x = numbers({1, 2, 3, 4, 5, 6}, {3, 2}), ones = numbers({10, 20}, {1, 2});
  expect_values(call(Op::gather_elements, {x, integers({2, -3}, {1, 2})}), {5, 2});
  expect_values(call(Op::gather_nd, {x, integers({2, 0, 0, -1}, {2, 2})}), {5, 2});
  expect_values(call(Op::gather_nd, {x, integers({1, 0, 1}, {3, 1})}, {{Attr::batch_dims, int64_t{1}}}), {2, 3, 6});
  expect_values(call(Op::scatter_elements, {x, integers({2, -3}, {1, 2}), ones}), {1, 20, 3, 4, 10, 6});
  const Attrs add{{Attr::reduction, std::string("add")}}, max{{Attr::reduction, std::string("max")}};
  expect_values(call(Op::scatter_nd, {x, integers({1, 1}, {2, 1}), numbers({1, 2, 3, 4}, {2, 2})}, add),
                {1, 2, 7, 10, 5, 6});
  expect_values(call(Op::scatter_nd, {x, integers({-1}, {1, 1}), numbers({9, 0}, {1, 2})}, max), {1, 2, 3, 4, 9, 6});
  EXPECT_ANY_THROW(call(Op::gather_elements, {x, integers({3, 0}, {1, 2})}));
}

TEST(ShapeKernel, SumsTrianglesAndOneHot) {
  const auto x = numbers({1, 2, 3, 4}, {2, 2});
  const Attrs from_end{{Attr::axis, int64_t{1}}, {Attr::exclusive, int64_t{1}}, {Attr::reverse, int64_t{1}}};
  expect_values(call(Op::cumsum, {x}, {{Attr::axis, int64_t{0}}}), {1, 2, 4, 6});
  expect_values(call(Op::cumsum, {x}, from_end), {2, 0, 4, 0});
  expect_values(call(Op::trilu, {x}, {{Attr::diagonal, int64_t{1}}}), {0, 2, 0, 0});
  expect_values(call(Op::trilu, {x}, {{Attr::upper, int64_t{0}}}), {1, 0, 3, 4});
  const Attrs three{{Attr::axis, int64_t{0}}, {Attr::depth, int64_t{3}}};
  expect_values(call(Op::one_hot, {integers({2, -3, 3}, {3}), numbers({0, 5}, {2})}, three),
                {0, 5, 0, 0, 0, 0, 5, 0, 0});
}

TEST(ShapeKernel, CastFillLiteral) {
  expect_values(call(Op::cast, {numbers({-1.7, 0, 2.9}, {3})}, {{Attr::to, std::string("i64")}}), {-1, 0, 2});
  expect_values(call(Op::cast, {numbers({-1.7, 0, 2.9}, {3})}, {{Attr::to, std::string("bool")}}), {1, 0, 1});
  expect_values(call(Op::fill, {}, {{Attr::shape, Ints{2}}, {Attr::value, 1.5}}), {1.5, 1.5});
  expect_values(call(Op::fill, {}, {{Attr::shape, Ints{}}, {Attr::value, 3.0}, {Attr::to, std::string("i64")}}), {3});
  expect_values(call(Op::literal, {}, {{Attr::shape, Ints{2, 1}}, {Attr::values, Ints{-5, 24}}}), {-5, 24});
}

}  // namespace
}  // namespace rlgo::exec

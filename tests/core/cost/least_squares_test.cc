#include "core/cost/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"

namespace rlgo::cost {
namespace {

// 3 x + 1 at x = 0, 1, ..., 9, with one wild value.
std::vector<double> line(std::span<const double> x) {
  std::vector<double> out;
  for (int i = 0; i < 10; ++i) out.push_back(x[0] * i + x[1] - (i == 4 ? 500 : 3 * i + 1));
  return out;
}

TEST(LeastSquares, AWildValueCountsLittle) {
  const auto found = least_squares(line, {0.5, 0.5}, 0.1);
  EXPECT_NEAR(found.x[0], 3, 0.02);
  EXPECT_NEAR(found.x[1], 1, 0.1);
}

TEST(LeastSquares, DeviationIsThatOfTheTextbook) {
  const auto mean = [](std::span<const double> x) {
    return std::vector<double>{x[0] - 1, x[0] - 2, x[0] - 3, x[0] - 6};
  };
  const auto found = least_squares(mean, {0}, 100);
  EXPECT_NEAR(found.x[0], 3, 1e-6);
  EXPECT_NEAR(found.deviation[0], std::sqrt(14.0 / 3 / 4), 1e-6);
}

TEST(LeastSquares, WhatNothingDependsOnIsUnknown) {
  const auto found = least_squares(
      [](std::span<const double> x) {
        return std::vector<double>{x[0] - 1, x[0] - 2, 0.0};
      },
      {0, 7}, 1);
  EXPECT_NEAR(found.x[0], 1.5, 1e-6);
  EXPECT_EQ(found.x[1], 7);
  EXPECT_TRUE(std::isinf(found.deviation[1]));
}

TEST(LeastSquares, TwoNumbersThatAreSeenAsASumAreUnknownApart) {
  const auto sum = [](std::span<const double> x) {
    return std::vector<double>{x[0] + x[1] - 1, x[0] + x[1] - 1.1, x[0] + x[1] - 0.9, x[0] + x[1] - 1};
  };
  EXPECT_GT(least_squares(sum, {0, 0}, 1).deviation[0], 100);
}

TEST(LeastSquares, RefusesTooFewResidualsAndWhatIsNoNumber) {
  EXPECT_THROW(least_squares([](auto) { return std::vector<double>{1}; }, {1, 2}, 1), Error);
  EXPECT_THROW(least_squares([](auto) { return std::vector<double>{NAN}; }, {1}, 1), Error);
}

}  // namespace
}  // namespace rlgo::cost

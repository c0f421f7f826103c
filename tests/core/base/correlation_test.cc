#include "core/base/correlation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rlgo {
namespace {

using testing::ElementsAre;

TEST(Correlation, OfALineIsOneAndOfAConstantNothing) {
  const std::vector<double> x{1, 2, 4}, line{3, 5, 9}, down{-1, -2, -4}, flat{7, 7, 7};
  EXPECT_DOUBLE_EQ(correlation(x, line), 1);
  EXPECT_DOUBLE_EQ(correlation(x, down), -1);
  EXPECT_EQ(correlation(x, flat), 0);
}

TEST(Correlation, EqualValuesShareTheMeanOfTheirPlaces) {
  EXPECT_THAT(ranks(std::vector<double>{5, 1, 5, 9, 5}), ElementsAre(2, 0, 2, 4, 2));
}

TEST(Correlation, OfRanksSeesTheOrderAlone) {
  const std::vector<double> x{1, 2, 3, 4}, grows{1, 10, 100, 1e6}, swapped{1, 3, 2, 4};
  EXPECT_DOUBLE_EQ(rank_correlation(x, grows), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(x, swapped), 0.8);
}

}  // namespace
}  // namespace rlgo

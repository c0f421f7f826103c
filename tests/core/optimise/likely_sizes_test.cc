#include "core/optimise/likely_sizes.h"

#include <gtest/gtest.h>

namespace rlgo::optimise {
namespace {

using Places = std::vector<onnx_io::OpenDim>;

bool has(const std::vector<Sizes>& sets, const Sizes& sizes) { return std::ranges::find(sets, sizes) != sets.end(); }

TEST(LikelySizes, PicturesLinesAndBatchesOfOne) {
  const Places places{{"n", "x", 0, 4}, {"h", "x", 2, 4}, {"w", "x", 3, 4}};
  const auto sets = likely_sizes(places, {}, {});
  EXPECT_EQ(sets[0], (Sizes{{"n", 2}, {"h", 320}, {"w", 320}}));
  EXPECT_TRUE(has(sets, {{"n", 2}, {"h", 48}, {"w", 320}}));
  EXPECT_TRUE(has(sets, {{"n", 1}, {"h", 640}, {"w", 640}}));
}

TEST(LikelySizes, AStateMayHaveTheBatchsSize) {
  const Places places{{"x:0", "x", 0, 2}, {"x:1", "x", 1, 2}, {"h:1", "h", 1, 3}};
  EXPECT_TRUE(has(likely_sizes(places, {}, {}), {{"x:0", 2}, {"x:1", 576}, {"h:1", 2}}));
}

TEST(LikelySizes, ChannelsMayStandInFrontOrAtTheEnd) {
  const Places places{{"n", "x", 0, 4}, {"a", "x", 1, 4}, {"b", "x", 2, 4}, {"c", "x", 3, 4}};
  const auto sets = likely_sizes(places, {}, {});
  EXPECT_TRUE(has(sets, {{"n", 2}, {"a", 3}, {"b", 224}, {"c", 224}}));
  EXPECT_TRUE(has(sets, {{"n", 2}, {"a", 224}, {"b", 224}, {"c", 3}}));
}

TEST(LikelySizes, WhatIsGivenStaysAndWeightsShowExtents) {
  const Places places{{"n", "x", 0, 3}, {"t", "x", 1, 3}, {"f", "x", 2, 3}};
  const int64_t fitting[] = {83};
  const auto sets = likely_sizes(places, {{"n", 9}}, fitting);
  EXPECT_TRUE(has(sets, {{"n", 9}, {"t", 64}, {"f", 83}}));
  EXPECT_TRUE(std::ranges::all_of(sets, [](const Sizes& s) { return s.at("n") == 9; }));
  EXPECT_TRUE(likely_sizes({}, {}, fitting).empty());
}

}  // namespace
}  // namespace rlgo::optimise

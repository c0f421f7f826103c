// Extents as functions of open sizes: normal forms, what is certain for all sizes, and what is not.
#include "core/ops/extent.h"

#include <gtest/gtest.h>

#include "core/ops/op.h"

namespace rlgo::ops {
namespace {

const Extent kH = Extent::symbol(0, 320, 1), kW = Extent::symbol(1, 320, 1);

Extent half(const Extent& e) { return floor_quotient(e, 2); }
int64_t at(const Extent& e, int64_t size) {
  return e.at([size](int64_t, int64_t) { return std::optional(size); }).value();
}

TEST(Extent, EqualPolynomialsAreTheSame) {
  EXPECT_TRUE(((kH + 1) * (kW - 1)).same(kH * kW - kH + kW - 1));
  EXPECT_FALSE(kH.same(kW));  // also where the samples are equal
  EXPECT_TRUE((kH - kH).is_number());
  EXPECT_EQ((Extent(2) * kH * kH + 1).sample(), 204801);
}

TEST(Extent, QuotientsRoundDown) {
  EXPECT_TRUE(half(Extent(4) * kH + 3).same(Extent(2) * kH + 1));
  EXPECT_TRUE(half(half(kH + 1) + 1).same(floor_quotient(kH + 3, 4)));
  EXPECT_EQ(at(half(kH - 5), 2), -2);
  EXPECT_FALSE((Extent(2) * half(kH)).same(kH));
  EXPECT_TRUE(floor_quotient(kH, 0).is_undecided());
  EXPECT_TRUE(floor_quotient((kH + 1) * kW * 6, Extent(2) * kH + 2).same(Extent(3) * kW));
  EXPECT_FALSE(divide_exactly(kH * kW + 1, kH));
}

TEST(Extent, BoundsHoldForAllSizes) {
  EXPECT_TRUE(kH.at_least(1));
  EXPECT_FALSE(kH.at_least(2));
  EXPECT_TRUE((kH * kW - kW).at_least(0));
  EXPECT_FALSE((kH - kW).at_least(0));
  EXPECT_TRUE((kH - Extent(2) * half(kH)).at_least(0));
  EXPECT_TRUE((Extent(2) * half(kH) - kH + 1).at_least(0));
  EXPECT_FALSE((Extent(2) * half(kH) - kH).at_least(0));
}

TEST(Extent, WhatIsNotDecidedIsNeither) {
  EXPECT_EQ(decide_equal(kH, kH + 1), false);
  EXPECT_EQ(decide_equal(Extent(2) * kH, Extent(4) * kW + 1), false);  // even, odd
  EXPECT_EQ(decide_equal(kH, 320), std::nullopt);
  EXPECT_EQ(decide_equal(floor_quotient(kH, 256), 1), std::nullopt);
  EXPECT_EQ(decide_less(kH, kH + 1), true);
  EXPECT_EQ(decide_less_equal(kH, kW), std::nullopt);
  EXPECT_EQ(decide_equal(Extent::undecided(), Extent::undecided()), std::nullopt);
}

TEST(Extent, BroadcastExtentsAreOneSet) {
  const Extent both = joint(std::vector<Extent>{kH, 1, kW}), again = joint(std::vector<Extent>{kW, both});
  EXPECT_TRUE(both.same(again));
  EXPECT_EQ(joint(std::vector<Extent>{kH, 5}).number(), 5);
  EXPECT_TRUE(joint(std::vector<Extent>{kH, 1, kH}).same(kH));
  EXPECT_EQ(members_of(both).size(), 2u);
}

TEST(Extent, OverflowIsUndecided) {
  const Extent large(INT64_MAX);
  EXPECT_TRUE((large + 1).is_undecided());
  EXPECT_TRUE((large * kH * 2).is_undecided());
  EXPECT_FALSE((large + 1).same(large + 1));
}

TEST(Extent, ReshapesReferToTheirInput) {
  TensorType x;
  ASSERT_TRUE(x.set_extents({kH, kW, 6}));
  EXPECT_EQ(reshape_items(x, std::vector<Extent>{kH, kW, 2, 3}), (Ints{-2, -2, 2, 3}));
  EXPECT_EQ(reshape_items(x, std::vector<Extent>{kW, kH, 6}), std::nullopt);  // equal at the sample
  EXPECT_EQ(reshape_items(x, std::vector<Extent>{kH * kW, 6}), (Ints{-1, 6}));
  EXPECT_EQ(reshape_items(x, std::vector<Extent>{kH, 0}), std::nullopt);
}

// Frames of 256 samples: as many at 1280 and 1300 samples, and not at 2560.
TEST(Extent, FramesNeedADivisibleLength) {
  TensorType x;
  ASSERT_TRUE(x.set_extents({Extent(1), Extent::symbol(2, 1280, 1)}));
  const Attrs frames{{Attr::shape, Ints{-1, 256}}}, fixed{{Attr::shape, Ints{5, 256}}};
  EXPECT_FALSE(infer(Op::reshape, Types{x}, frames));
  std::vector<Requirement> required;
  const auto out = infer(Op::reshape, Types{x}, frames, nullptr, &required);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->front().extent(0).text(), "((s2) / 256)");
  EXPECT_EQ(required.size(), 1u);
  EXPECT_FALSE(infer(Op::reshape, Types{x}, fixed));
}

}  // namespace
}  // namespace rlgo::ops

#include "core/ops/views.h"

#include <gtest/gtest.h>

namespace rlgo::ops {
namespace {

const Extent kN = Extent::symbol(0, 2, 1), kH = Extent::symbol(1, 5, 1), kW = Extent::symbol(2, 7, 1);

TensorType of(const Extents& extents) {
  TensorType type;
  EXPECT_TRUE(type.set_extents(extents));
  return type;
}

TEST(Views, OnesAreLeftOutOrPutBetween) {
  EXPECT_EQ(view_of(of({kN, 1, kH}), of({kN, kH})).kind, View::Kind::squeeze);
  EXPECT_EQ(view_of(of({kN, kH}), of({kN, 1, 1, kH})).kind, View::Kind::unsqueeze);
  EXPECT_EQ(view_of(of({kN, kH}), of({kH, 1, kN})).kind, View::Kind::other);
  EXPECT_EQ(view_of(of({kN, 1, kH}), of({kN, kH, 1})).kind, View::Kind::other);
}

TEST(Views, TwoAxesAreFlattened) {
  const View view = view_of(of({kN, 3, kH, kW}), of({kN, kH * kW * 3}));
  EXPECT_EQ(view.kind, View::Kind::flatten);
  EXPECT_EQ(view.axis, 1);
}

// Nothing shows h * w where a batch is empty.
TEST(Views, CopiesBesideARestNeedElements) {
  const auto needs = [](const Extents& input, const Extents& output, const Ints& shape) {
    return needs_elements(of(input), shape, of(output));
  };
  const Extents image{kN, 3, kH, kW};
  EXPECT_TRUE(needs(image, {kN, 3, kH * kW}, {kSameExtent, 3, kRestExtent}));
  EXPECT_FALSE(needs(image, {kN, kH * kW * 3}, {kSameExtent, kRestExtent}));
  EXPECT_FALSE(needs(image, {kN * kH * kW, 3}, {kRestExtent, 3}));
  EXPECT_FALSE(needs({kN, kH}, {kN, 1, kH}, {kSameExtent, 1, kRestExtent}));
}

}  // namespace
}  // namespace rlgo::ops

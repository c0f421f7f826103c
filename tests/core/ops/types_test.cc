#include "core/ops/types.h"

#include <gtest/gtest.h>

#include <limits>

namespace rlgo::ops {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Types, TextRoundTrips) {
  for (const char* text : {"f32[1,3,224,224]", "i64[]", "f32[?,8]", "bf16[*]", "bool[0]", "other[2]"}) {
    const auto type = type_from_string(text);
    ASSERT_TRUE(type.has_value()) << text;
    EXPECT_EQ(to_string(*type), text);
  }
  EXPECT_EQ(to_string(*type_from_string(" f32[ 1, 2 ] ")), "f32[1,2]");
}

TEST(Types, BadTextIsRejected) {
  for (const char* text : {"", "f32", "f33[1]", "f32[1", "f32[1,]", "f32[-1]", "f32[x]", "f32[99999999999999999999]"}) {
    EXPECT_FALSE(type_from_string(text).has_value()) << text;
  }
}

TEST(Types, EveryDTypeHasNameAndSize) {
  for (DType d : {DType::f32, DType::u8, DType::i8, DType::u16, DType::i16, DType::i32, DType::i64, DType::boolean,
                  DType::f16, DType::f64, DType::u32, DType::u64, DType::bf16}) {
    EXPECT_EQ(dtype_from_name(name(d)), d);
    EXPECT_GT(size_bytes(d), 0);
  }
  EXPECT_EQ(size_bytes(DType::other), 0);
  EXPECT_EQ(size_bytes(DType::bf16), 2);
  EXPECT_EQ(dtype_from_name("float"), std::nullopt);
}

TEST(Types, ElementsAndBytesSaturate) {
  EXPECT_EQ(TensorType(DType::f32, {2, 3, 4}).elements(), 24);
  EXPECT_EQ(TensorType(DType::f64, {2, 3}).bytes(), 48);
  EXPECT_EQ(TensorType(DType::f32, {}).elements(), 1);
  EXPECT_EQ(TensorType(DType::f32, {kMax, kMax, 0}).elements(), 0);
  EXPECT_EQ(TensorType(DType::f32, {int64_t{1} << 40, int64_t{1} << 40}).elements(), kMax);
  EXPECT_EQ(TensorType(DType::f32, {int64_t{1} << 62}).bytes(), kMax);
}

TEST(Types, StaticMeansRankedAndKnown) {
  EXPECT_TRUE(TensorType(DType::f32, {0, 2}).is_static());
  EXPECT_FALSE(TensorType(DType::f32, {kUnknown, 2}).is_static());
  EXPECT_FALSE(TensorType::unranked(DType::f32).is_static());
}

TEST(Types, HashDistinguishesDTypeShapeAndRankedness) {
  const TensorType type(DType::f32, {2, 3});
  EXPECT_EQ(type.hash(), TensorType(DType::f32, {2, 3}).hash());
  EXPECT_NE(type.hash(), TensorType(DType::f16, {2, 3}).hash());
  EXPECT_NE(type.hash(), TensorType(DType::f32, {3, 2}).hash());
  EXPECT_NE(TensorType(DType::f32, {}).hash(), TensorType::unranked(DType::f32).hash());
}

TEST(Types, Broadcast) {
  EXPECT_EQ(broadcast({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast({}, {3}), (Shape{3}));
  EXPECT_EQ(broadcast({0}, {1}), (Shape{0}));
  EXPECT_EQ(broadcast({2}, {3}), std::nullopt);
  EXPECT_EQ(broadcast({0}, {2}), std::nullopt);
}

}  // namespace
}  // namespace rlgo::ops

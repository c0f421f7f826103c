#include "core/graph/blob.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::graph {
namespace {

const ops::TensorType kType(ops::DType::f32, {100, 1000});

std::vector<float> floats(const Blob& blob) {
  const std::string bytes = blob.load();
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Blob, SeededNumbersAreTheSameOnEveryMachine) {
  const auto values = floats(*Blob::seeded({ops::DType::f32, {4}}, 7, 1.0));
  const std::vector<float> expected{0.918203592f, 0.683686316f, 0.126406461f, -0.369464219f};
  EXPECT_EQ(values, expected);
}

TEST(Blob, SeededNumbersAreNormal) {
  const auto values = floats(*Blob::seeded(kType, 3, 0.5, 2.0));
  double mean = 0, second = 0, fourth = 0;
  for (const float v : values) mean += v / 1e5;
  for (const float v : values) second += std::pow(v - mean, 2) / 1e5;
  for (const float v : values) fourth += std::pow(v - mean, 4) / 1e5;
  EXPECT_NEAR(mean, 2.0, 0.008);
  EXPECT_NEAR(std::sqrt(second), 0.5, 0.005);
  EXPECT_NEAR(fourth / (second * second), 3.0, 0.25);
}

TEST(Blob, NeighboursAndSeedsAreIndependent) {
  const auto a = floats(*Blob::seeded(kType, 1, 1.0));
  const auto b = floats(*Blob::seeded(kType, 2, 1.0));
  double between = 0, neighbours = 0;
  for (size_t i = 0; i + 1 < a.size(); ++i) {
    between += a[i] * b[i] / 1e5;
    neighbours += a[i] * a[i + 1] / 1e5;
  }
  EXPECT_NEAR(between, 0.0, 0.015);
  EXPECT_NEAR(neighbours, 0.0, 0.015);
}

TEST(Blob, PositiveOnesStayAboveOneHalf) {
  for (const float v : floats(*Blob::seeded(kType, 3, 0.6, 0.0, true))) ASSERT_GE(v, 0.5f);
}

TEST(Blob, HashDependsOnEveryParameter) {
  const auto base = Blob::seeded(kType, 3, 0.5)->content_hash();
  EXPECT_EQ(base, Blob::seeded(kType, 3, 0.5)->content_hash());
  EXPECT_NE(base, Blob::seeded(kType, 4, 0.5)->content_hash());
  EXPECT_NE(base, Blob::seeded(kType, 3, 0.25)->content_hash());
  EXPECT_NE(base, Blob::seeded(kType, 3, 0.5, 1.0)->content_hash());
  EXPECT_NE(base, Blob::seeded(kType, 3, 0.5, 0.0, true)->content_hash());
  EXPECT_NE(base, Blob::seeded({ops::DType::f32, {1000, 100}}, 3, 0.5)->content_hash());
}

TEST(Blob, BytesAreHeld) {
  const auto blob = Blob::bytes({ops::DType::i64, {2}}, std::string(16, 'x'));
  EXPECT_EQ(blob->load(), std::string(16, 'x'));
  EXPECT_TRUE(blob->available());
  EXPECT_NE(blob->content_hash(), Blob::bytes({ops::DType::i64, {2}}, std::string(16, 'y'))->content_hash());
  EXPECT_NE(blob->content_hash(), Blob::bytes({ops::DType::i64, {1, 2}}, std::string(16, 'x'))->content_hash());
  EXPECT_EQ(Blob::bytes({ops::DType::f32, {0}}, "")->load(), "");
}

TEST(Blob, WrongSizesAndKindsAreErrors) {
  EXPECT_THROW(Blob::bytes({ops::DType::i64, {2}}, std::string(15, 'x')), Error);
  EXPECT_THROW(Blob::bytes({ops::DType::f32, {ops::kUnknown}}, "1234"), Error);
  EXPECT_THROW(Blob::seeded({ops::DType::i64, {2}}, 1, 1.0), Error);
  EXPECT_THROW(Blob::seeded(kType, 1, NAN), Error);
}

TEST(Blob, AbsentHasNoContents) {
  const auto blob = Blob::absent(kType, 0x12);
  EXPECT_FALSE(blob->available());
  EXPECT_EQ(blob->content_hash(), 0x12u);
  EXPECT_EQ(blob->describe(), "hash=0000000000000012");
  EXPECT_THROW(blob->load(), Error);
}

TEST(Blob, AbsurdSizeIsAnErrorOnLoadOnly) {
  const int64_t big = int64_t{1} << 40;
  const auto blob = Blob::seeded({ops::DType::f32, {big, big}}, 1, 1.0);
  EXPECT_THROW(blob->load(), Error);
}

TEST(Blob, Describes) {
  EXPECT_EQ(Blob::seeded(kType, 7, 0.1)->describe(), "seed=7 scale=0.1 shift=0 positive=0");
  EXPECT_EQ(Blob::seeded(kType, 7, 0.1, -0.5, true)->describe(), "seed=7 scale=0.1 shift=-0.5 positive=1");
}

TEST(Opaque, HashDependsOnEveryField) {
  const Opaque base{.op_type = "LSTM",
                    .domain = "",
                    .payload = "p",
                    .formal_inputs = {true, false},
                    .captured = {},
                    .outputs = {"y"}};
  EXPECT_EQ(base.hash(), Opaque(base).hash());
  const auto changed = [&](auto change) {
    Opaque other = base;
    change(other);
    return other.hash() != base.hash();
  };
  EXPECT_TRUE(changed([](Opaque& o) { o.op_type = "GRU"; }));
  EXPECT_TRUE(changed([](Opaque& o) { o.domain = "x"; }));
  EXPECT_TRUE(changed([](Opaque& o) { o.payload = "q"; }));
  EXPECT_TRUE(changed([](Opaque& o) { o.formal_inputs = {true, true}; }));
  EXPECT_TRUE(changed([](Opaque& o) { o.captured = {"a"}; }));
  EXPECT_TRUE(changed([](Opaque& o) { o.outputs = {"z"}; }));
  EXPECT_TRUE(changed([](Opaque& o) { o.deterministic = false; }));
}

}  // namespace
}  // namespace rlgo::graph

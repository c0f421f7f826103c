#include "core/base/rng.h"

#include <gtest/gtest.h>

#include <set>

namespace rlgo {
namespace {

// Reference outputs of xoshiro256** for the state {1, 2, 3, 4}.
TEST(Rng, IsXoshiro256StarStar) {
  Rng rng(Rng::State{1, 2, 3, 4});
  EXPECT_EQ(rng.next(), 11520u);
  EXPECT_EQ(rng.next(), 0u);
  EXPECT_EQ(rng.next(), 1509978240u);
  EXPECT_EQ(rng.next(), 1215971899390074240u);
}

TEST(Rng, StreamsAreNamedByTheirKey) {
  EXPECT_EQ(Rng({1, 2, 3}).next(), Rng({1, 2, 3}).next());
  std::set<uint64_t> firsts;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (uint64_t rank = 0; rank < 10; ++rank) firsts.insert(Rng({seed, rank}).next());
  }
  firsts.insert(Rng({}).next());
  firsts.insert(Rng({0}).next());
  firsts.insert(Rng({0, 0, 0}).next());
  EXPECT_EQ(firsts.size(), 103u);
}

TEST(Rng, StateIsSavedAndRestored) {
  Rng rng({7});
  rng.normal();
  Rng copy(rng.state());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rng.next(), copy.next());
}

TEST(Rng, BelowCoversItsRangeEvenly) {
  Rng rng({3});
  int counts[6] = {};
  for (int i = 0; i < 60000; ++i) ++counts[rng.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng.below(1), 0u);
}

// A range just above half of all words: without rejection, small numbers would come twice as often.
TEST(Rng, BelowIsUnbiasedForHugeRanges) {
  Rng rng({4});
  const uint64_t n = (uint64_t{1} << 63) + (uint64_t{1} << 62);
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += rng.below(n) < n / 3;
  EXPECT_NEAR(low, 10000, 400);
}

TEST(Rng, UniformIsInTheHalfOpenUnitInterval) {
  Rng rng({5});
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Rng, NormalHasMeanZeroAndVarianceOne) {
  Rng rng({6});
  double sum = 0, squares = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 20000, 0.0, 0.03);
  EXPECT_NEAR(squares / 20000, 1.0, 0.04);
}

TEST(Hash, IsFixedForEver) {
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFull);  // the first output of splitmix64 seeded with 0
  EXPECT_NE(hash_string("ab"), hash_string("ba"));
  EXPECT_NE(hash_string(""), hash_string(std::string_view("\0", 1)));
  EXPECT_NE(hash_combine(1, 2), hash_combine(2, 1));
  EXPECT_NE(hash_string("12345678"), hash_string("123456789"));
}

}  // namespace
}  // namespace rlgo

#include "core/base/small_vector.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/rng.h"

namespace rlgo {
namespace {

using Small = SmallVector<int64_t, 3>;
std::vector<int64_t> items(const Small& v) { return {v.begin(), v.end()}; }

TEST(SmallVector, GrowsOutOfTheObject) {
  Small v;
  for (int64_t i = 0; i < 10; ++i) v.push_back(i);
  EXPECT_EQ(v.size(), 10u);
  EXPECT_EQ(v.front(), 0);
  EXPECT_EQ(v.back(), 9);
  v.pop_back();
  EXPECT_EQ(v.back(), 8);
}

TEST(SmallVector, CopiesAndMovesInsideAndOutside) {
  for (const size_t n : {0u, 2u, 3u, 4u, 9u}) {
    Small from(n, 7);
    Small copy(from);
    EXPECT_EQ(copy, from);
    Small moved(std::move(copy));
    EXPECT_EQ(moved, from);
    EXPECT_TRUE(copy.empty());  // NOLINT: a moved-from vector is empty and usable
    copy.push_back(1);
    EXPECT_EQ(items(copy), std::vector<int64_t>{1});
    for (const size_t m : {0u, 3u, 8u}) {
      Small target(m, 1);
      target = from;
      EXPECT_EQ(target, from);
      Small other(m, 1);
      other = std::move(target);
      EXPECT_EQ(other, from);
    }
  }
}

TEST(SmallVector, SelfAssignmentKeepsTheItems) {
  Small v{1, 2, 3, 4};
  Small& same = v;
  v = same;
  EXPECT_EQ(items(v), (std::vector<int64_t>{1, 2, 3, 4}));
}

// The argument lies in the memory that growing gives back.
TEST(SmallVector, ArgumentsMayBeItsOwnItems) {
  Small v{1, 2, 3};
  v.push_back(v[0]);
  v.insert(v.begin(), v[2]);
  v.push_back(9);
  EXPECT_EQ(items(v), (std::vector<int64_t>{3, 1, 2, 3, 1, 9}));
  v.resize(100, v[5]);
  EXPECT_EQ(v[99], 9);
}

TEST(SmallVector, InsertsAndErases) {
  Small v{1, 3};
  v.insert(v.begin() + 1, 2);
  v.insert(v.end(), 4);
  v.insert(v.begin(), 0);
  EXPECT_EQ(items(v), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  v.erase(v.begin() + 2);
  v.erase(v.end() - 1);
  EXPECT_EQ(items(v), (std::vector<int64_t>{0, 1, 3}));
}

TEST(SmallVector, Resizes) {
  Small v{1};
  v.resize(5, 2);
  EXPECT_EQ(items(v), (std::vector<int64_t>{1, 2, 2, 2, 2}));
  v.resize(2);
  v.resize(3);
  EXPECT_EQ(items(v), (std::vector<int64_t>{1, 2, 0}));
}

TEST(SmallVector, ComparesAsAWord) {
  EXPECT_LT((Small{1, 2}), (Small{1, 3}));
  EXPECT_LT((Small{1}), (Small{1, 0}));
  EXPECT_EQ((Small{}), (Small{}));
  EXPECT_NE((Small{1}), (Small{1, 1}));
}

TEST(SmallVector, BehavesAsAVector) {
  Rng rng({1});
  Small small;
  std::vector<int64_t> model;
  for (int step = 0; step < 2000; ++step) {
    const auto item = static_cast<int64_t>(rng.below(100));
    const size_t at = rng.below(model.size() + 1);
    switch (rng.below(4)) {
      case 0:
        small.push_back(item);
        model.push_back(item);
        break;
      case 1:
        small.insert(small.begin() + at, item);
        model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), item);
        break;
      case 2:
        if (at == model.size()) break;
        small.erase(small.begin() + at);
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        if (rng.below(20) == 0) small.clear(), model.clear();
    }
    ASSERT_EQ(items(small), model);
  }
}

}  // namespace
}  // namespace rlgo

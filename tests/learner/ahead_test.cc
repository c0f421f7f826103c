#include "learner/ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "core/base/error.h"

namespace rlgo::learner {
namespace {

class Made : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Thread, Made, testing::Bool());

TEST_P(Made, ComeInOrderAndEnd) {
  int next = 0;
  Ahead<int> items(GetParam(), [&]() -> std::optional<int> { return next < 4 ? std::optional(next++) : std::nullopt; });
  std::vector<int> all;
  while (const auto item = items.next()) all.push_back(*item);
  EXPECT_EQ(all, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_FALSE(items.next());
}

TEST_P(Made, AnErrorComesInItsTurn) {
  int next = 0;
  Ahead<int> items(GetParam(), [&]() -> std::optional<int> {
    if (next++ > 0) fail("no batch {}", next);
    return 7;
  });
  EXPECT_EQ(items.next(), 7);
  EXPECT_THROW(items.next(), Error);
}

// What is ready waits to be taken: no more memory than for two.
TEST(Ahead, MakesOneAhead) {
  std::atomic<int> made{0}, taken{0};
  std::atomic<bool> too_many{false};
  Ahead<int> items(true, [&]() -> std::optional<int> {
    if (++made > taken + 2) too_many = true;
    return made;
  });
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(items.next(), i);
    ++taken;
  }
  EXPECT_FALSE(too_many);
}

TEST(Ahead, TheCallerIsFreeMeanwhile) {
  std::atomic<bool> free{false};
  Ahead<int> items(true, [&]() -> std::optional<int> {
    while (!free) std::this_thread::yield();
    return 1;
  });
  int between = 0;
  EXPECT_EQ(items.next([&] { free = ++between > 2; }), 1);
  EXPECT_GE(between, 3);
}

}  // namespace
}  // namespace rlgo::learner

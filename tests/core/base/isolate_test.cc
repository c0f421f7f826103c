#include "core/base/isolate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "core/base/error.h"

namespace rlgo {
namespace {

using End = IsolationResult::End;

TEST(Isolate, WhatReturnsIsGoodAndChangesNothing) {
  int number = 1;
  const auto result = run_isolated([&] { number = 2; }, {});
  EXPECT_TRUE(result.good());
  EXPECT_EQ(result.what, "");
  EXPECT_EQ(number, 1);
}

TEST(Isolate, ErrorsComeBackWhole) {
  const auto result = run_isolated([] { fail("line {}: {}", 3, std::string(9000, 'x')); }, {});
  EXPECT_EQ(result.end, End::refused);
  EXPECT_EQ(result.what, "line 3: " + std::string(9000, 'x'));
}

TEST(Isolate, CrashesAndEndlessLoopsAreReported) {
  const auto crash = run_isolated([] { ::raise(SIGSEGV); }, {});
  EXPECT_EQ(crash.end, End::crashed);
  EXPECT_EQ(crash.what, "signal 11 (Segmentation fault)");
  EXPECT_EQ(run_isolated([] { ::_exit(3); }, {}).what, "exit status 3");
  const auto busy = [] {
    for (volatile bool forever = true; forever;) {
    }
  };
  EXPECT_EQ(run_isolated(busy, {.cpu_s = 1}).end, End::too_long);
  EXPECT_EQ(run_isolated([] { ::pause(); }, {.wall_s = 0.2}).end, End::too_long);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Isolate, MemoryIsLimited) {
  const auto result =
      run_isolated([] { const std::vector<char> much(size_t{256} << 20); }, {.memory_bytes = uint64_t{64} << 20});
  EXPECT_EQ(result.end, End::too_much_memory);
}
#endif

}  // namespace
}  // namespace rlgo

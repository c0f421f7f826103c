#include "core/base/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace rlgo {
namespace {

void hang() {
  for (;;) ::pause();
}

TEST(Watchdog, EndsAProcessThatHangsAlsoInItsLastWords) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto bitten = [] {
    const Watchdog watchdog(0.01, 7, hang);
    hang();
  };
  EXPECT_EXIT(bitten(), testing::ExitedWithCode(7), "");
}

TEST(Watchdog, IsQuietInTime) {
  { const Watchdog watchdog(3600, 7, hang); }
}

}  // namespace
}  // namespace rlgo

#include "core/base/device_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "core/base/temporary_folder.h"

namespace rlgo {
namespace {

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

TEST(DeviceLock, AMeasurementWaitsForThoseWhoShareAndComesBeforeNewOnes) {
  const TemporaryFolder folder("device-lock");
  const DeviceLock lock("0000:41:00.0", folder.path());
  auto one = lock.share(), two = lock.share();  // next to each other
  std::atomic<int> order = 0;
  int measured_at = 0, shared_at = 0;
  std::thread measures([&] {
    const auto hold = lock.alone();
    measured_at = ++order;
  });
  pause();
  std::thread sharing([&] {
    pause();
    const auto hold = lock.share();
    shared_at = ++order;
  });
  pause();
  one.reset();
  pause();
  EXPECT_EQ(order, 0);  // `two` still shares it
  two.reset();
  measures.join();
  sharing.join();
  EXPECT_EQ(measured_at, 1);
  EXPECT_EQ(shared_at, 2);
}

TEST(DeviceLock, OneJobHasADevice) {
  const TemporaryFolder folder("device-lock");
  const DeviceLock lock("0000:41:00.0", folder.path()), other("0000:42:00.0", folder.path());
  std::string holder;
  auto first = lock.claim(holder);
  EXPECT_TRUE(first && other.claim(holder));
  EXPECT_FALSE(lock.claim(holder));
  EXPECT_THAT(holder, testing::MatchesRegex("host .*, process [0-9]+"));
  first.reset();
  EXPECT_TRUE(lock.claim(holder));
}

TEST(DeviceLock, WithoutAFolderNobodyWaits) {
  const DeviceLock lock("0000:41:00.0", "/no/such/folder");
  std::string holder;
  EXPECT_TRUE(lock.claim(holder));
  const auto one = lock.alone(), two = lock.alone();
}

}  // namespace
}  // namespace rlgo

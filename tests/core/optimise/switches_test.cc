#include "core/optimise/switches.h"

#include <gtest/gtest.h>

namespace rlgo::optimise {
namespace {

using Settings = std::vector<cost::SwitchTiming>;

TEST(Switches, TheFastestOfTheResultIsBest) {
  const Settings s = {
      {"all", 1, true, {500, 200}, ""}, {"basic", 1, false, {100, 190}, ""}, {"all", 4, false, {400, 50}, ""}};
  EXPECT_EQ(best_switch(s), &s[2]);
  EXPECT_EQ(switches_summary(s),
            "faster still with the runtime's level all, 4 threads: 4.00x against level all, 1 thread");
}

TEST(Switches, TheUsualOneUnlessAnotherIsClearlyFaster) {
  const Settings s = {{"all", 1, true, {200}, ""}, {"basic", 1, false, {196}, ""}, {"off", 1, false, {0}, "failed"}};
  EXPECT_EQ(best_switch(s), &s[0]);
  EXPECT_EQ(switches_summary(s), "the runtime's usual switches (level all, 1 thread) are the best of 3 here");
}

TEST(Switches, AResultThatIsSlowerWithOtherThreadsIsReported) {
  Settings s = {{"all", 1, true, {100, 80}, ""}, {"basic", 4, false, {60, 90}, ""}, {"all", 4, false, {50, 55}, ""}};
  EXPECT_EQ(slower_threads_text(s),
            "but slower with 4 threads: 1.10 of the original's time; --threads 4 chooses for them");
  s[2].us = {50, 51};
  EXPECT_EQ(slower_threads_text(s), "") << "within the noise of medians; another level is no other number of threads";
  s[2].us = {50};
  EXPECT_EQ(slower_threads_text(s), "") << "the result was not measured";
}

TEST(Switches, NothingMeasuredNothingReported) {
  EXPECT_EQ(slower_threads_text({}), "");
  EXPECT_EQ(best_switch({}), nullptr);
  EXPECT_EQ(switches_summary({}), "");
  EXPECT_EQ(switches_summary({{"all", 1, true, {0}, ""}}), "");
  EXPECT_EQ(to_text(Settings{}), "");
}

}  // namespace
}  // namespace rlgo::optimise

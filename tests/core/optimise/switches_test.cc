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

TEST(Switches, NothingMeasuredNothingSaid) {
  EXPECT_EQ(best_switch({}), nullptr);
  EXPECT_EQ(switches_summary({}), "");
  EXPECT_EQ(switches_summary({{"all", 1, true, {0}, ""}}), "");
  EXPECT_EQ(to_text(Settings{}), "");
}

}  // namespace
}  // namespace rlgo::optimise

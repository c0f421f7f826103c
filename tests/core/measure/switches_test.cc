#include "core/measure/switches.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo::measure {
namespace {

TEST(Switches, AnAnswerIsRead) {
  const auto found = read_switches(R"({"id":3,"settings":[{"level":"all","threads":1,"usual":true,"us":[500.5,250]},)"
                                   R"({"level":"basic","threads":4,"us":[null,90.25],"error":"late"}]})",
                                   2);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].level, "all");
  EXPECT_TRUE(found[0].usual && !found[1].usual);
  EXPECT_EQ(found[0].us, (std::vector<double>{500.5, 250}));
  EXPECT_EQ(found[1].us, (std::vector<double>{0, 90.25}));
  EXPECT_EQ(found[1].threads, 4);
  EXPECT_EQ(found[1].error, "late");
}

TEST(Switches, NonsenseIsRefused) {
  for (const char* answer :
       {"", "{}", R"({"settings":[{"level":"all"}]})", R"({"settings":[{"level":"all","threads":1,"us":[1]}]})",
        R"({"settings":[{"level":"all","threads":1,"us":[1,-2]}]})",
        R"({"settings":[{"level":"all","threads":"x","us":[1,2]}]})"})
    EXPECT_THROW(read_switches(answer, 2), Error) << answer;
}

}  // namespace
}  // namespace rlgo::measure

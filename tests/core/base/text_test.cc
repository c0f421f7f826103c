#include "core/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace rlgo {
namespace {

TEST(Text, Trim) {
  EXPECT_EQ(trim("  a b\t\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(join(split("a,,b,", ','), ","), "a,,b,");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Text, IntegersAreWholeStrings) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* bad : {"", "-", " 1", "1 ", "1.0", "0x10", "+1", "9223372036854775808", "1e3"}) {
    EXPECT_FALSE(parse_int(bad).has_value()) << bad;
  }
}

TEST(Text, NumbersAreWholeStrings) {
  EXPECT_EQ(parse_double("-1.5e-3"), -0.0015);
  EXPECT_EQ(parse_double("0.1"), 0.1);
  EXPECT_EQ(parse_double("-inf"), -std::numeric_limits<double>::infinity());
  for (const char* bad : {"", ".", "1,5", "1.5x", "1e400", "--1"}) EXPECT_FALSE(parse_double(bad).has_value()) << bad;
}

TEST(Text, FiniteNumbersAreNumbers) {
  EXPECT_EQ(finite_number("-1.5e-3"), -0.0015);
  for (const char* bad : {"", "1.5x", "inf", "nan", "1e400"}) EXPECT_THROW(finite_number(bad), Error) << bad;
}

TEST(Text, NearestFindsTyposOnly) {
  const std::vector<std::string> known{"resnet18", "resnet50", "bert"};
  EXPECT_EQ(nearest("resnet5", known), "resnet50");
  EXPECT_EQ(nearest("bret", {}), std::nullopt);
  EXPECT_EQ(nearest("brt", known), "bert");
  EXPECT_EQ(nearest("bret", known), "bert");  // two letters swapped are one mistake
  EXPECT_EQ(nearest("vgg", known), std::nullopt);
  EXPECT_EQ(did_you_mean("resnet51", known), " (did you mean 'resnet50'?)");
  EXPECT_EQ(did_you_mean("something", known), "");
  EXPECT_EQ(
      did_you_mean("policy-taso", known),
      " (removed: a trained agent did not improve a search (results/agents.md); revision 438c83b is the last that "
      "has it)");
}

TEST(Text, HumanBytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(1024.0 * 1024 * 1024), "1.0 GiB");
  EXPECT_EQ(human_bytes(1e18), "909494.7 TiB");
}

TEST(Text, Counted) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(0, "thread"), "0 threads");
  EXPECT_EQ(counted(2, "input"), "2 inputs");
}

TEST(Text, HumanSeconds) {
  EXPECT_EQ(human_seconds(0), "0 us");
  EXPECT_EQ(human_seconds(0.012), "12 ms");
  EXPECT_EQ(human_seconds(41.26), "41.3 s");
  EXPECT_EQ(human_seconds(61), "1 min 01 s");
  EXPECT_EQ(human_seconds(7380), "2 h 03 min");
  EXPECT_EQ(human_seconds(1e30), "unknown");
  EXPECT_EQ(human_seconds(NAN), "unknown");
  EXPECT_EQ(human_seconds(INFINITY), "unknown");
}

}  // namespace
}  // namespace rlgo

#include "core/base/error.h"

#include <gtest/gtest.h>

namespace rlgo {
namespace {

template <typename F>
std::string error_of(F&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Error, FormatsAndNests) {
  EXPECT_EQ(error_of([] { fail("{} of {}", 1, "two"); }), "1 of two");
  EXPECT_EQ(Error("inner").in("outer").what(), std::string("outer: inner"));
}

TEST(Error, ChecksReportPlaceAndValues) {
  EXPECT_EQ(error_of([] { RLGO_CHECK_EQ(1 + 1, 2); }), "no error");
  const std::string message = error_of([] { RLGO_CHECK_LT(5, 3); });
  EXPECT_TRUE(message.starts_with("internal check failed at tests/core/base/error_test.cc:")) << message;
  EXPECT_NE(message.find("5 < 3: 5 against 3"), std::string::npos) << message;
  EXPECT_NE(error_of([] { RLGO_CHECK(false); }).find("false"), std::string::npos);
}

TEST(Error, CheckedExpressionsAreEvaluatedOnce) {
  int count = 0;
  RLGO_CHECK_EQ(++count, 1);
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace rlgo

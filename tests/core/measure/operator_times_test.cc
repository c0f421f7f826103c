#include "core/measure/operator_times.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo::measure {
namespace {

TEST(OperatorTimes, AnAnswerIsRead) {
  const auto found =
      read_operator_times(R"({"operators":[{"name":"a","op":"Conv","us":2.5},{"name":"","op":"TopK","us":0}]})");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].us, 2.5);
  EXPECT_EQ(found[1].op, "TopK");
}

TEST(OperatorTimes, NonsenseIsRefused) {
  for (const char* answer :
       {"", "{}", R"({"operators":[{"name":"a","op":"Conv"}]})", R"({"operators":[{"name":"a","op":"Conv","us":-1}]})"})
    EXPECT_THROW(read_operator_times(answer), Error) << answer;
}

}  // namespace
}  // namespace rlgo::measure

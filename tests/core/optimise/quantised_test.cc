// Quantised models: how far outputs are apart, and what --allow admits.
#include "core/optimise/quantised.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/usage.h"

namespace rlgo::optimise {
namespace {

using testing::HasSubstr;

cost::Outputs outputs(std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  return {{{"y", "float32", {count}, std::move(values)}}, ""};
}

TEST(Quantised, OutputsAreApartInSteps) {
  const onnx_io::QuantisedReport model{{}, {}, {{"y", 0.25}}};
  std::string why;
  EXPECT_EQ(steps_apart(outputs({1, NAN}), outputs({1, NAN}), model, why), 0);
  EXPECT_EQ(steps_apart(outputs({1, 2}), outputs({1.25, 1.5}), model, why), 2);
  EXPECT_EQ(steps_apart(outputs({1, 2}), outputs({1, INFINITY}), model, why), INFINITY);
  EXPECT_EQ(why, "");
  EXPECT_FALSE(steps_apart(outputs({1}), outputs({1, 2}), model, why).has_value());
  EXPECT_THAT(why, HasSubstr("another type or shape"));
}

TEST(Quantised, ADifferenceWithoutAStepIsRefused) {
  std::string why;
  EXPECT_EQ(steps_apart(outputs({1}), outputs({1}), {}, why), 0);
  EXPECT_FALSE(steps_apart(outputs({1}), outputs({2}), {}, why).has_value());
  EXPECT_THAT(why, HasSubstr("step is not known"));
}

TEST(Quantised, AllowedSteps) {
  EXPECT_EQ(allowed_steps(""), 0);
  EXPECT_EQ(allowed_steps("rounding"), 2);
  EXPECT_EQ(allowed_steps("rounding=7"), 7);
  for (const char* wrong : {"rounding=0", "rounding=", "anything"}) EXPECT_THROW(allowed_steps(wrong), UsageError);
}

}  // namespace
}  // namespace rlgo::optimise

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "learner/ppo/gae.h"

namespace rlgo::learner {
namespace {

TEST(Gae, ByHand) {
  // gamma 0.5, lambda 0.5. delta_1 = 2 + 0.5*4 - 3 = 1; delta_0 = 1 + 0.5*3 - 2 = 0.5; A_1 = 1; A_0 = 0.5 + 0.25*1 =
  // 0.75.
  const std::vector<float> rewards = {1, 2}, values = {2, 3};
  const auto [advantages, returns] = gae(rewards, values, 4.0f, 0.5, 0.5);
  EXPECT_EQ(advantages, (std::vector<float>{0.75f, 1.0f}));
  EXPECT_EQ(returns, (std::vector<float>{2.75f, 4.0f}));
}

TEST(Gae, LambdaOneGivesTheDiscountedReturn) {
  const std::vector<float> rewards = {1, 1, 1}, values = {7, -3, 11};
  const auto [advantages, returns] = gae(rewards, values, 8.0f, 0.5, 1.0);
  EXPECT_EQ(returns, (std::vector<float>{2.75f, 3.5f, 5.0f}));  // 1 + 0.5 (1 + 0.5 (1 + 0.5 * 8))
  EXPECT_EQ(advantages, (std::vector<float>{-4.25f, 6.5f, -6.0f}));
}

TEST(Gae, LambdaZeroGivesTheOneStepError) {
  const std::vector<float> rewards = {1, 2}, values = {2, 4};
  EXPECT_EQ(gae(rewards, values, 6.0f, 0.5, 0.0).advantages, (std::vector<float>{1.0f, 1.0f}));
}

mdp::Trajectory one_step(bool terminal) {
  mdp::Trajectory trajectory{
      .terminal = terminal, .beginning = {}, .steps = std::vector<mdp::Step>(1), .last = {}, .last_value_rule = 10};
  trajectory.steps[0].reward = 1;
  trajectory.steps[0].value_rule = 2;
  trajectory.steps[0].value_location = 99;  // not the baseline
  return trajectory;
}

TEST(Gae, BootstrapsWhereTruncatedOnly) {
  EXPECT_FLOAT_EQ(gae(one_step(false), 0.9, 0.95).returns[0], 10.0f);  // 1 + 0.9 * 10
  EXPECT_FLOAT_EQ(gae(one_step(true), 0.9, 0.95).returns[0], 1.0f);
}

TEST(Gae, EmptyAndUnequalLengths) {
  EXPECT_TRUE(gae(mdp::Trajectory{}, 0.9, 0.9).advantages.empty());
  EXPECT_THROW(gae(std::vector<float>{1}, std::vector<float>{}, 0, 0.9, 0.9), Error);
}

}  // namespace
}  // namespace rlgo::learner

#include "learner/dream/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner/dream/trainer.h"

namespace rlgo::learner {
namespace {

TEST(WorldLoss, MeansRunOverRealStepsAlone) {
  EXPECT_FLOAT_EQ(masked_mean(torch::tensor({1.0f, 3.0f, 1000.0f}), torch::tensor({1.0f, 1.0f, 0.0f})).item<float>(),
                  2);
  EXPECT_FLOAT_EQ(masked_mean(torch::tensor({5.0f}), torch::tensor({0.0f})).item<float>(), 0);
}

// One standard normal per dimension at its mean: log sqrt(2 pi) nats.
TEST(WorldLoss, LatentByHand) {
  const nets::Mixture m{torch::zeros({1, 2, 1}), torch::zeros({1, 2, 1}), torch::zeros({1, 2, 1})};
  const auto ones = torch::ones({1});
  EXPECT_NEAR(latent_loss(m, torch::zeros({1, 2}), ones).item<double>(), 0.918939, 1e-5);
  EXPECT_NEAR(latent_loss(m, torch::tensor({{1.0f, 3.0f}}), ones).item<double>(), 0.918939 + (0.5 + 4.5) / 2, 1e-5);
}

TEST(WorldLoss, RewardByHand) {
  const auto predicted = torch::tensor({{1.0f, 3.0f}, {0.0f, 0.0f}});
  EXPECT_FLOAT_EQ(reward_loss(predicted, torch::tensor({2.0f, 5.0f}), torch::ones({2, 2}), torch::tensor({1.0f, 0.0f}))
                      .item<float>(),
                  1);
}

TEST(WorldLoss, TerminalWeighsEnds) {
  const auto zero = torch::zeros({2}), ones = torch::ones({2});
  const double ln2 = std::log(2.0);
  EXPECT_NEAR(terminal_loss(zero, torch::tensor({1.0f, 0.0f}), ones, 1).item<double>(), ln2, 1e-6);
  EXPECT_NEAR(terminal_loss(zero, torch::tensor({1.0f, 0.0f}), ones, 10).item<double>(), (10 * ln2 + ln2) / 2, 1e-5);
}

TEST(WorldLoss, PresentByHand) {
  const auto counts = torch::tensor({{4.0f, 0.0f}});
  EXPECT_NEAR(present_loss(torch::tensor({{20.0f, -20.0f}}), counts, torch::ones({1})).item<double>(), 0, 1e-6);
  EXPECT_NEAR(present_loss(torch::zeros({1, 2}), counts, torch::ones({1})).item<double>(), std::log(2.0), 1e-6);
}

// Only rules that are legal count; Huber: e^2 / 2 below 1, |e| - 1/2 above.
TEST(WorldLoss, CountsByHand) {
  const auto counts = torch::tensor({{std::exp(1.0f) - 1, 0.0f, std::exp(2.0f) - 1}});
  const auto log_count = torch::tensor({{1.5f, 9.0f, 5.0f}});
  EXPECT_NEAR(count_loss(log_count, counts, torch::ones({1})).item<double>(), (0.125 + 2.5) / 2, 1e-5);
}

// Two rules of three classes, all equally likely: 2 log 3; the second step is padding.
TEST(WorldLoss, ClassesByHand) {
  const auto logits = torch::zeros({2, 2, 3});
  const auto target = torch::zeros({2, 2}, torch::kInt64);
  EXPECT_NEAR(class_loss(logits, target, torch::tensor({1.0f, 0.0f})).item<double>(), 2 * std::log(3.0), 1e-5);
}

TEST(WorldLoss, WhatComesByHand) {
  const auto target = torch::tensor({{1.0f, 3.0f, 0.1f, 0.0f}});
  const auto predicted = torch::tensor({{2.0f, 3.0f, 0.0f, 0.0f}});
  const double off = std::asinh(1.0);
  EXPECT_NEAR(come_loss(predicted, target).item<double>(), 0.5 + off * off / 2, 1e-5);
  EXPECT_EQ(come_loss(torch::zeros({0, 4}), torch::zeros({0, 4})).item<double>(), 0);
}

TEST(WorldLoss, MembersLearnFromTheirOwnSteps) {
  const auto members = torch::tensor({{{1.0f, 1.0f}, {5.0f, 5.0f}}});  // [1, R=2, Z=2]
  const auto target = torch::zeros({1, 2});
  EXPECT_FLOAT_EQ(members_loss(members, target, torch::tensor({{1.0f, 0.0f}}), torch::ones({1})).item<float>(), 1);
  EXPECT_FLOAT_EQ(members_loss(members, target, torch::tensor({{1.0f, 1.0f}}), torch::ones({1})).item<float>(), 13);
}

TEST(WorldScore, F1AndCorrelation) {
  EXPECT_DOUBLE_EQ(f1(2, 4, 2), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(f1(0, 0, 0), 1);
  EXPECT_NEAR(correlation(torch::tensor({1.0, 2.0, 3.0}), torch::tensor({-1.0, -2.0, -3.0})), -1, 1e-12);
  EXPECT_EQ(correlation(torch::ones({3}), torch::tensor({1.0, 2.0, 3.0})), 0);
}

}  // namespace
}  // namespace rlgo::learner

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/mdp/mdp.h"

namespace rlgo::mdp {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Trajectory sample() {
  Trajectory t{.seed = 7,
               .rank = 3,
               .episode = 41,
               .weights_version = -1,
               .spec_hash = 0xFEDCBA9876543210ull,
               .terminal = true,
               .dream = false,
               .beginning = {2, {{3, 4}, {0, 5}}, {99.5, 95}},
               .initial_cost_us = 100.5,
               .best_cost_us = 90.25,
               .steps = {},
               .last = {},
               .last_value_rule = 0.5f};
  const Observation o{.node_op = {0, 3},
                      .node_feat = {1, 2},
                      .edge_src = {0},
                      .edge_dst = {1},
                      .edge_feat = {0.5f},
                      .globals = {7},
                      .counts = {0, 2},
                      .loc_node = {0, 1},
                      .latent = {}};
  Step step{.observation = o,
            .action = {1, 1},
            .reward = -2.5f,
            .log_prob_rule = -0.25f,
            .log_prob_location = -0.75f,
            .value_rule = 3,
            .value_location = 4,
            .info = {.rule = "fuse",
                     .cost_us = 90.25,
                     .flops = 1,
                     .bytes = 2,
                     .peak_bytes = 3,
                     .launches = 4,
                     .step_us = 5,
                     .measured_us = 6,
                     .measured_ratio = 0.75,
                     .measured_error = 0.125,
                     .timing = WholeTimed::within_noise,
                     .location = 9}};
  t.steps = {step, step};
  t.steps[1].action = {2, 0};
  t.steps[1].info.rule = "";
  t.last = o;
  t.last.globals = {8};
  return t;
}

TEST(Codec, RoundTripKeepsEveryField) {
  const auto t = sample();
  const auto u = decode(encode(t));
  EXPECT_EQ(u.seed, 7u);
  EXPECT_EQ(u.rank, 3);
  EXPECT_EQ(u.episode, 41);
  EXPECT_EQ(u.weights_version, -1);
  EXPECT_EQ(u.spec_hash, 0xFEDCBA9876543210ull);
  EXPECT_TRUE(u.terminal);
  EXPECT_FALSE(u.dream);
  EXPECT_EQ(u.beginning, t.beginning);
  EXPECT_EQ(u.initial_cost_us, 100.5);
  EXPECT_EQ(u.best_cost_us, 90.25);
  EXPECT_EQ(u.last, t.last);
  EXPECT_EQ(u.last_value_rule, 0.5f);
  ASSERT_EQ(u.steps.size(), 2u);
  EXPECT_EQ(u.steps[0].observation, t.steps[0].observation);
  EXPECT_EQ(u.steps[0].action, (Action{1, 1}));
  EXPECT_EQ(u.steps[1].action, (Action{2, 0}));
  EXPECT_EQ(u.steps[0].reward, -2.5f);
  EXPECT_EQ(u.steps[0].log_prob_rule, -0.25f);
  EXPECT_EQ(u.steps[0].log_prob_location, -0.75f);
  EXPECT_EQ(u.steps[0].value_rule, 3.0f);
  EXPECT_EQ(u.steps[0].value_location, 4.0f);
  EXPECT_EQ(u.steps[0].info.rule, "fuse");
  EXPECT_EQ(u.steps[1].info.rule, "");
  EXPECT_EQ(u.steps[0].info.cost_us, 90.25);
  EXPECT_EQ(u.steps[0].info.measured_us, 6.0);
  EXPECT_EQ(u.steps[0].info.measured_ratio, 0.75);
  EXPECT_EQ(u.steps[0].info.measured_error, 0.125);
  EXPECT_EQ(u.steps[0].info.timing, WholeTimed::within_noise);
  EXPECT_EQ(u.steps[0].info.location, 9);
  EXPECT_EQ(encode(u), encode(t));
}

TEST(Codec, EmptyTrajectory) {
  const auto u = decode(encode(Trajectory{}));
  EXPECT_TRUE(u.steps.empty());
  EXPECT_TRUE(u.last.node_op.empty());
}

TEST(Codec, EveryTruncationIsAnError) {
  const auto bytes = encode(sample());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(decode(std::string_view(bytes).substr(0, size)), Error) << size;
}

TEST(Codec, ForeignOrOverlongBytesAreErrors) {
  auto bytes = encode(sample());
  EXPECT_THAT([&] { decode(bytes + "x"); }, ThrowsMessage<Error>(HasSubstr("left over")));
  bytes[4] = 9;
  EXPECT_THAT([&] { decode(bytes); }, ThrowsMessage<Error>(HasSubstr("version 9")));
  bytes[0] = 'x';
  EXPECT_THAT([&] { decode(bytes); }, ThrowsMessage<Error>(HasSubstr("magic")));
}

// Random damage must end in Error or in some trajectory, never in a crash or an absurd allocation.
TEST(Codec, SurvivesRandomDamage) {
  const auto good = encode(sample());
  Rng rng({5});
  int errors = 0;
  for (int i = 0; i < 2000; ++i) {
    auto bad = good;
    for (int k = 0; k < 3; ++k) bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    try {
      decode(bad);
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 200);
}

}  // namespace
}  // namespace rlgo::mdp

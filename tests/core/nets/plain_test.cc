#include "core/nets/plain.h"

#include <gtest/gtest.h>

#include "core/agent/player.h"
#include "core/base/error.h"
#include "tests/core/nets/_random_graphs.h"

namespace rlgo::nets {
namespace {

using test::pointers;
using test::random_observation;

mdp::ObservationSpec spec() {
  auto result = test::random_spec();
  result.location_features = 2;
  result.nonlocal_node_features = {1};
  return result;
}

mdp::Observation observation(int nodes, Rng& rng) {
  auto o = random_observation(spec(), nodes, rng);
  for (size_t l = 0; l < o.loc_node.size(); ++l) {
    o.loc_feat.insert(o.loc_feat.end(), {static_cast<float>(rng.normal()) / 10, rng.uniform() < 0.2 ? 1.0f : 0.0f});
    for (uint64_t k = rng.below(4); k > 0; --k)
      o.loc_rest.push_back(static_cast<int32_t>(rng.below(static_cast<uint64_t>(nodes))));
    o.loc_rest_end.push_back(static_cast<int32_t>(o.loc_rest.size()));
  }
  return o;
}

// A walk: each graph differs from the one before in a node or two.
std::vector<mdp::Observation> walk(int steps, Rng& rng) {
  std::vector<mdp::Observation> result = {observation(60, rng)};
  for (int i = 0; i < steps; ++i) {
    result.push_back(result.back());
    result.back().node_op[rng.below(60)] = static_cast<int32_t>(rng.below(8));
    result.back().node_feat[rng.below(180)] += 0.1f;
    result.back().globals[0] += 0.1f;
  }
  return result;
}

// Weights with nothing zero in them.
ActorCritic trained(const AgentOptions& options) {
  ActorCritic network(spec(), options, 1);
  const torch::NoGradGuard no_gradients;
  torch::manual_seed(1);
  for (auto& p : network->parameters()) p.add_(0.05 * torch::randn_like(p));
  network->rescale_values(0.5, 2);
  return network;
}

agent::Player player_of(const ActorCritic& network) {
  return agent::Player(std::make_shared<const agent::Network>(plain_network(*network)));
}

class PlainOptions : public ::testing::TestWithParam<AgentOptions> {};
INSTANTIATE_TEST_SUITE_P(All, PlainOptions,
                         ::testing::Values(AgentOptions{.rounds = 3, .width = 64, .block = Block::local},
                                           AgentOptions{.rounds = 2,
                                                        .width = 21,
                                                        .location_head = LocationHead::index,
                                                        .aggregation = Aggregation::mean,
                                                        .pooling = Aggregation::sum,
                                                        .both_directions = false,
                                                        .shared = true,
                                                        .block = Block::local}));

// Logits, likelihoods and values of the plain loops are those of LibTorch's full pass.
TEST_P(PlainOptions, AgreeWithTheFullPassAlongAWalk) {
  Rng rng({1});
  ActorCritic network = trained(GetParam());
  auto player = player_of(network);
  const torch::NoGradGuard no_gradients;
  for (const auto& o : walk(200, rng)) {
    const auto batch = collate(o, spec());
    const auto expected = network->policy(batch, network->encode(batch));
    const auto& judged = player.judge(o);
    const auto score = expected.score.contiguous();
    ASSERT_EQ(static_cast<int64_t>(judged.score.size()), score.numel());
    for (size_t l = 0; l < judged.score.size(); ++l)
      EXPECT_NEAR(judged.score[l], score.const_data_ptr<float>()[l], 2e-4);
    EXPECT_NEAR(judged.stop, expected.stop.item<float>(), 2e-4);
    const auto choice = player.choose(o, rng.uniform(), rng.uniform(), false);
    const auto full = network->evaluate(batch, {&choice.action, 1});
    EXPECT_NEAR(choice.log_prob_rule, full.log_prob_rule.item<float>(), 2e-4);
    EXPECT_NEAR(choice.log_prob_location, full.log_prob_location.item<float>(), 2e-4);
    EXPECT_NEAR(choice.value_rule, full.value_rule.item<float>(), 2e-4);
    EXPECT_NEAR(choice.value_location, full.value_location.item<float>(), 2e-4);
  }
}

// What is drawn, and what greedy play takes, is what LibTorch's network would.
TEST_P(PlainOptions, ChooseAsTheNetwork) {
  Rng rng({4});
  ActorCritic network = trained(GetParam());
  auto player = player_of(network);
  int same = 0;
  const auto seen = walk(60, rng);
  for (const auto& o : seen) {
    const double uniforms[] = {rng.uniform(), rng.uniform()};
    const auto batch = collate(o, spec());
    EXPECT_EQ(player.choose(o, 0, 0, true).action, network->act(batch, {}, true).actions[0]);
    same += player.choose(o, uniforms[0], uniforms[1], false).action == network->act(batch, uniforms).actions[0];
  }
  EXPECT_GE(same, 59);  // a draw may fall on rounding
}

TEST(Plain, ComputesOnlyWhatIsNew) {
  Rng rng({2});
  auto player = player_of(ActorCritic(spec(), AgentOptions{.rounds = 1, .width = 8, .block = Block::local}, 1));
  auto seen = walk(1, rng);
  player.judge(seen[0]);
  const auto first = player.computed();
  player.judge(seen[0]);
  EXPECT_EQ(player.computed(), first);
  player.judge(seen[1]);
  EXPECT_GT(player.computed(), first);
  EXPECT_LT(player.computed(), first + first / 2);
}

TEST(Plain, RefusesWhatIsNotItsNetwork) {
  const ActorCritic network(spec(), AgentOptions{.rounds = 1, .width = 8}, 1);
  const auto shape = plain_shape(network->options());
  auto tensors = plain_tensors(*network);
  const auto other = test::random_spec(6);
  EXPECT_THROW((agent::Network{other, shape, tensors}), Error);
  tensors["xfer_table"].values[3] = NAN;
  EXPECT_THROW((agent::Network{spec(), shape, tensors}), Error);
  tensors.erase("xfer_table");
  EXPECT_THROW((agent::Network{spec(), shape, tensors}), Error);
  for (const AgentOptions& none : {AgentOptions{.block = Block::full}, AgentOptions{.block = Block::gat},
                                   AgentOptions{.head = PolicyHead::staged}})
    EXPECT_THROW(plain_shape(none), Error);
}

}  // namespace
}  // namespace rlgo::nets

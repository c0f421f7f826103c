#include "core/nets/row_cache.h"

#include <gtest/gtest.h>

#include "core/nets/actor_critic.h"
#include "tests/core/nets/_random_graphs.h"

namespace rlgo::nets {
namespace {

using test::pointers;
using test::random_observation;
using test::random_spec;

// A walk: each graph differs from the one before in a node or two.
std::vector<mdp::Observation> walk(int steps, Rng& rng) {
  std::vector<mdp::Observation> result = {random_observation(random_spec(), 60, rng)};
  for (int i = 0; i < steps; ++i) {
    result.push_back(result.back());
    result.back().node_op[rng.below(60)] = static_cast<int32_t>(rng.below(8));
    result.back().node_feat[rng.below(180)] += 0.1f;
    result.back().globals[0] += 0.1f;
  }
  return result;
}

void expect_close(const Tensor& a, const Tensor& b) { EXPECT_TRUE(torch::allclose(a, b, 1e-5, 1e-5)); }

class CacheOptions : public ::testing::TestWithParam<AgentOptions> {};
INSTANTIATE_TEST_SUITE_P(All, CacheOptions,
                         ::testing::Values(AgentOptions{.rounds = 3, .width = 64, .block = Block::local},
                                           AgentOptions{.rounds = 2,
                                                        .width = 21,
                                                        .aggregation = Aggregation::mean,
                                                        .pooling = Aggregation::sum,
                                                        .both_directions = false,
                                                        .shared = true,
                                                        .block = Block::local}));

TEST_P(CacheOptions, AgreesWithTheFullPassAlongAWalk) {
  Rng rng({1});
  ActorCritic agent(random_spec(), GetParam(), 1);
  RowCache rows(*agent);
  const torch::NoGradGuard no_gradients;
  for (const auto& o : walk(200, rng)) {
    const auto full = agent->encode(collate(o, random_spec()));
    const mdp::Observation* one[] = {&o};
    const auto batch = rows.collate(one);
    const auto cached = agent->encode(batch);
    expect_close(cached.nodes, full.nodes);
    expect_close(cached.global, full.global);
    expect_close(agent->policy(batch, cached).location, agent->policy(collate(o, random_spec()), full).location);
  }
}

TEST(RowCache, ComputesOnlyWhatIsNew) {
  Rng rng({2});
  ActorCritic agent(random_spec(), AgentOptions{.rounds = 1, .width = 8, .block = Block::local}, 1);
  RowCache rows(*agent);
  auto seen = walk(1, rng);
  rows.collate(std::vector{&std::as_const(seen[0])});
  const auto first = rows.computed();
  rows.collate(std::vector{&std::as_const(seen[0])});
  EXPECT_EQ(rows.computed(), first);
  rows.collate(std::vector{&std::as_const(seen[1])});
  EXPECT_GT(rows.computed(), first);
  EXPECT_LT(rows.computed(), first + first / 2);
}

TEST(RowCache, NewWeightsForgetOldRows) {
  Rng rng({3});
  ActorCritic agent(random_spec(), AgentOptions{.rounds = 2, .width = 8, .block = Block::local}, 1);
  RowCache rows(*agent);
  const auto seen = walk(3, rng);
  const torch::NoGradGuard no_gradients;
  rows.collate(pointers(seen));
  for (auto& p : agent->parameters()) p.mul_(1.5);
  rows.load(*agent);
  expect_close(rows.collate(pointers(seen)).encoded->global,
               agent->encode(collate(pointers(seen), random_spec())).global);
}

}  // namespace
}  // namespace rlgo::nets

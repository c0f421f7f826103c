#include "learner/dream/autoencoder.h"

#include <gtest/gtest.h>

#include "core/nets/weights.h"
#include "tests/core/nets/_random_graphs.h"

namespace rlgo::learner {
namespace {

TEST(Autoencoder, LearnsGraphsAndDependsOnItsSeedOnly) {
  const auto spec = test::random_spec();
  Rng draws({1});
  std::vector<mdp::Observation> graphs;
  for (int i = 0; i < 60; ++i) graphs.push_back(test::random_observation(spec, 6 + i % 5, draws));
  const auto trained = [&](uint64_t seed, nets::Block block) {
    Rng rng({3});
    nets::Encoder encoder(spec, nets::EncoderOptions{.rounds = 2, .width = 16, .block = block}, rng);
    const double left = pretrain(encoder, test::pointers(graphs), spec, torch::kCPU, seed, {.passes = 20});
    EXPECT_LT(left, 0.7);
    return nets::pack(*encoder);
  };
  EXPECT_EQ(trained(1, nets::Block::local), trained(1, nets::Block::local));
  EXPECT_NE(trained(1, nets::Block::full), trained(2, nets::Block::full));
}

}  // namespace
}  // namespace rlgo::learner

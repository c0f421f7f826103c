#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/mdp/mdp.h"
#include "tests/support/toy_env.h"

namespace rlgo::mdp {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::unique_ptr<BatchEnv> two_paths() {
  std::vector<std::unique_ptr<Env>> envs;
  envs.push_back(std::make_unique<test::PathToy>());
  envs.push_back(std::make_unique<test::PathToy>());
  return make_batch(std::move(envs));
}

TEST(Batch, StepsEachEnvironmentByItsIndex) {
  auto batch = two_paths();
  EXPECT_EQ(batch->size(), 2);
  batch->reset(0, 1);
  batch->reset(1, 1);
  EXPECT_EQ(batch->initial_cost_us(1), 100.0);
  const auto results = batch->step({1, 0}, {Action{0, 1}, Action{2, 0}});
  EXPECT_EQ(results[0].info.rule, "forward");
  EXPECT_EQ(results[0].reward, -1.0f);
  EXPECT_FALSE(results[0].terminal);
  EXPECT_TRUE(results[1].terminal);  // NO-OP of environment 0
  EXPECT_EQ(batch->step({1}, {Action{1, 0}})[0].observation.node_op[1], 1);
}

TEST(Batch, ErrorsNameTheEnvironment) {
  auto batch = two_paths();
  batch->reset(0, 1);
  EXPECT_THAT(
      [&] {
        batch->step({1}, {Action{0, 0}});
      },
      ThrowsMessage<Error>(HasSubstr("environment 1: toy: no episode")));
  EXPECT_THAT([&] { batch->step({0}, {Action{1, 0}}); }, ThrowsMessage<Error>(HasSubstr("not legal")));
  EXPECT_THROW(batch->step({0, 1}, {Action{}}), Error);
  EXPECT_THROW(batch->step({2}, {Action{}}), Error);
  EXPECT_THROW(batch->reset(-1, 0), Error);
}

TEST(Batch, NeedsEnvironmentsOfOneSpec) {
  EXPECT_THROW(make_batch({}), Error);
  std::vector<std::unique_ptr<Env>> envs;
  envs.push_back(std::make_unique<test::PathToy>());
  envs.push_back(std::make_unique<test::HillToy>());
  EXPECT_THAT([&] { make_batch(std::move(envs)); }, ThrowsMessage<Error>(HasSubstr("another observation spec")));
}

// The toys keep their own contract: observations fit the spec, optima are reachable.
TEST(Choice, EachEpisodeIsPlayedInOneThatItsKeyDraws) {
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < 3; ++i) envs.push_back(std::make_unique<test::PathToy>());
  const Env& second = *envs[1];
  const auto env = make_choice(std::move(envs));
  int drawn[3] = {};
  for (uint64_t key = 0; key < 300; ++key) {
    env->reset(key);
    const int32_t graph = env->beginning().graph;
    ASSERT_TRUE(graph >= 0 && graph < 3);
    ++drawn[graph];
    env->reset(key);
    EXPECT_EQ(env->beginning().graph, graph);
    env->step(Action{0, 1});
    EXPECT_EQ(second.current_cost_us() == env->current_cost_us(), graph == 1 || second.current_cost_us() == 101);
  }
  for (int count : drawn) EXPECT_GT(count, 60);
}

TEST(Toys, ObservationsFitTheirSpec) {
  test::PathToy path;
  test::MaskedToy masked;
  test::EndlessToy endless;
  test::HillToy hill;
  for (Env* env : std::initializer_list<Env*>{&path, &masked, &endless, &hill}) {
    for (uint64_t key = 0; key < 5; ++key) {
      Rng rng({key});
      auto o = env->reset(key);
      for (bool done = false; !done;) {
        check(o, env->spec());
        Action action{env->spec().rules, 0};
        for (int32_t x = 0; x < env->spec().rules; ++x) {
          const auto count = static_cast<uint64_t>(o.counts[static_cast<size_t>(x)]);
          if (count > 0 && rng.uniform() < 0.7) action = {x, static_cast<int32_t>(rng.below(count))};
        }
        auto result = env->step(action);
        done = result.terminal || result.truncated;
        o = result.observation;
      }
    }
  }
}

TEST(Toys, HillPaysNineThroughTheLoss) {
  test::HillToy hill;
  auto o = hill.reset(3);
  float total = hill.step({0, 0}).reward + hill.step({0, 0}).reward;
  o = hill.step({1, 0}).observation;
  EXPECT_EQ(hill.current_cost_us(), 101.0);
  int32_t right = 0;
  while (o.node_feat[static_cast<size_t>(right + 1) * 2] == 0) ++right;
  const auto last = hill.step({2, right});
  EXPECT_EQ(total - 3 + last.reward, 9.0f);
  EXPECT_TRUE(last.terminal);  // nothing applies any more
}

}  // namespace
}  // namespace rlgo::mdp

// An inference rank over MPI: the last rank decides for the other actors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/actor_loop.h"
#include "learner/loop.h"
#include "tests/mpi/world.h"
#include "tests/support/drawn_policy.h"
#include "tests/support/toy_env.h"

namespace rlgo::test {
namespace {

class MpiInference : public testing::Test {
 protected:
  void SetUp() override {
    if (world().size() < 3) GTEST_SKIP() << "needs two actors";
    world().meet();
    options.epochs = 4;
    options.steps_per_epoch = 300;
    options.drain_s = 60;
    options.inference.assign(static_cast<size_t>(world().size()), last);
  }
  int64_t act(std::function<bool()> should_stop, actors::ActorEnd end) {
    std::vector<std::unique_ptr<mdp::Env>> envs;
    for (int i = 0; i < 2; ++i) envs.push_back(std::make_unique<PathToy>(9, 10));
    const auto batch = mdp::make_batch(std::move(envs));
    DrawnRandom policy;
    actors::ActorOptions actor_options;
    actor_options.learner_timeout_s = 60;
    actor_options.inference_rank = last;
    actor_options.inference.timeout_s = 60;
    actors::ActorLoop actor(world().mailbox, *batch, policy, actor_options);
    EXPECT_EQ(actor.run(should_stop), end);
    return policy.decided;
  }
  learner::LoopResult learn() {
    learner::LoopHooks hooks;
    hooks.on_trajectory = [this](const learner::Episode& t, bool) { EXPECT_LT(t->facts.rank, last); };
    hooks.on_epoch = [this](const learner::EpochReport& report, const learner::LoopState&) {
      counts = report.inference;
    };
    learner::NoAlgorithm algorithm;
    return learner::Loop(world().mailbox, algorithm, options, hooks).run();
  }
  const int last = world().size() - 1;
  learner::LoopOptions options;
  comm::InferenceCounts counts;
};

TEST_F(MpiInference, DecidesForAll) {
  if (world().rank() != 0) {
    const auto decided = act([] { return false; }, actors::ActorEnd::stopped);
    if (world().rank() == last) {
      EXPECT_GT(decided, 600);
    } else {
      EXPECT_LT(decided, 300);  // after the other has left
    }
    return;
  }
  const auto result = learn();
  EXPECT_EQ(result.state.epoch, 4);
  EXPECT_TRUE(result.all_sent_goodbye);
  EXPECT_EQ(counts.refused, 0);
}

// It leaves in the middle: the others decide for themselves, at once.
TEST_F(MpiInference, LeavesAndTheOthersPlayOn) {
  if (world().rank() != 0) {
    const Stopwatch watch;
    const bool leaves = world().rank() == last;
    act([&] { return leaves && watch.seconds() > 0.5; },
        leaves ? actors::ActorEnd::interrupted : actors::ActorEnd::stopped);
    return;
  }
  const Stopwatch watch;
  options.epochs = 1000000;
  options.should_stop = [&] { return counts.fallback > 300; };
  const auto result = learn();
  EXPECT_EQ(result.reason, learner::StopReason::interrupted);
  EXPECT_EQ(result.state.lost, 0);
  EXPECT_LT(watch.seconds(), 50) << "nobody waited for an answer";
}

}  // namespace
}  // namespace rlgo::test

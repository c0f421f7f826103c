// The loop with its actor in the same thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/actor_loop.h"
#include "core/base/error.h"
#include "learner/loop.h"
#include "tests/support/loop.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test_parts::Counter, test_parts::Diary, test_parts::paths, test_parts::Versioned;

// Fails in every fifth step.
class FragileEnv : public test::PathToy {
 public:
  FragileEnv() : PathToy(9, 10) {}
  mdp::StepResult step(mdp::Action action) override {
    if (++steps_ % 5 == 0) fail("boom");
    return PathToy::step(action);
  }

 private:
  int steps_ = 0;
};

// Learner and actor in turn, in this thread.
struct Serial {
  explicit Serial(std::unique_ptr<mdp::BatchEnv> envs_, uint64_t seed = 1) : envs(std::move(envs_)) {
    actors::ActorOptions actor_options;
    actor_options.seed = seed;
    actor.emplace(actor_box, *envs, policy, actor_options);
    options.turn = [this] { return actor->turn(); };
    options.steps_per_epoch = 50;
    options.spec_hash = envs->spec().hash();
  }
  LoopResult run(LoopState start = {}) {
    algorithm.updates = static_cast<int>(start.version);
    Loop loop(learner_box, algorithm, options, diary.hooks(), {}, std::move(start));
    return loop.run();
  }
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(2);
  comm::Mailbox learner_box{*comms[0]}, actor_box{*comms[1]};
  std::unique_ptr<mdp::BatchEnv> envs;
  Versioned policy;
  std::optional<actors::ActorLoop> actor;
  Counter algorithm;
  LoopOptions options;
  Diary diary;
};

TEST(SerialLoop, CountsAddUp) {
  Serial run(paths(3));
  run.options.epochs = 4;
  const auto result = run.run();
  EXPECT_EQ(result.reason, StopReason::epochs);
  EXPECT_TRUE(result.all_sent_goodbye);
  EXPECT_EQ(run.actor->end(), actors::ActorEnd::stopped);
  EXPECT_EQ(result.state.epoch, 4);
  EXPECT_EQ(result.state.version, 4);
  EXPECT_EQ(run.algorithm.updates, 4);
  EXPECT_EQ(run.algorithm.steps, result.state.steps);
  EXPECT_EQ(run.actor->steps_sent(), result.state.steps);
  EXPECT_EQ(result.state.episodes, static_cast<int64_t>(run.diary.trajectories.size()));
  EXPECT_EQ(result.state.next_episode, (std::vector<int64_t>{0, result.state.episodes}));
  ASSERT_EQ(run.diary.epochs.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const auto& report = run.diary.epochs[i];
    EXPECT_EQ(report.epoch, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(report.version, static_cast<int64_t>(i));
    EXPECT_GE(report.steps, 50);
    EXPECT_LT(report.steps, 50 + 3 * 10);
    EXPECT_EQ(report.lag_max, 0);
    EXPECT_EQ(report.dropped, 0);
    EXPECT_EQ(report.actors, 1);
    EXPECT_GT(report.bytes_in, 1000u);
    EXPECT_GT(report.trajectory_bytes, 100u);
    EXPECT_LT(report.trajectory_bytes, report.bytes_in);
    EXPECT_GE(report.trajectory_steps, report.steps);
    if (i < 3) {
      EXPECT_GT(report.bytes_out, 48u);
    } else {
      EXPECT_EQ(report.bytes_out, 0u);  // nobody plays with the last weights
    }
    EXPECT_LE(report.cost_best_us, 100);
    EXPECT_THAT(report.update.values, testing::ElementsAre(testing::Pair("updates", static_cast<double>(i + 1))));
  }
}

TEST(SerialLoop, IsAFunctionOfTheSeed) {
  const auto play = [](uint64_t seed) {
    Serial run(paths(2), seed);
    run.options.epochs = 3;
    run.run();
    std::vector<std::string> bytes;
    for (auto& t : run.diary.trajectories) {
      for (auto& step : t.steps) step.info.step_us = 0;
      bytes.push_back(mdp::encode(t));
    }
    return bytes;
  };
  EXPECT_EQ(play(1), play(1));
  EXPECT_NE(play(1), play(2));
}

TEST(SerialLoop, ResumesWhereItStopped) {
  const auto actions = [](const Diary& diary) {
    std::vector<std::tuple<int64_t, int64_t, int32_t, int32_t>> all;
    for (const auto& t : diary.trajectories) {
      for (const auto& step : t.steps)
        all.emplace_back(t.episode, t.weights_version, step.action.rule, step.action.location);
    }
    return all;
  };
  Serial whole(paths(2));
  whole.options.epochs = 5;
  const auto end = whole.run().state;

  Serial first(paths(2)), second(paths(2));
  first.options.epochs = 2;
  second.options.epochs = 5;
  const auto resumed = second.run(first.run().state).state;
  auto joined = actions(first.diary);
  for (const auto& item : actions(second.diary)) joined.push_back(item);
  EXPECT_EQ(joined, actions(whole.diary));
  EXPECT_EQ(resumed.steps, end.steps);
  EXPECT_EQ(resumed.version, 5);
  EXPECT_EQ(second.diary.epochs.front().epoch, 3);
}

TEST(SerialLoop, LostEpisodesAreCountedAndTheRunGoesOn) {
  std::vector<std::unique_ptr<mdp::Env>> envs;
  envs.push_back(std::make_unique<FragileEnv>());
  Serial run(mdp::make_batch(std::move(envs)));
  run.options.epochs = 3;
  const auto result = run.run();
  EXPECT_EQ(result.reason, StopReason::epochs);
  EXPECT_GT(result.state.lost, 5);
  EXPECT_EQ(result.state.lost, static_cast<int64_t>(run.diary.errors.size()));
  EXPECT_EQ(run.diary.errors[0].rank, 1);
  EXPECT_EQ(run.diary.errors[0].what, "environment 0: boom");
  EXPECT_EQ(result.state.next_episode[1], result.state.episodes + result.state.lost);
  EXPECT_GE(run.diary.epochs[0].steps, 50);
}

TEST(SerialLoop, StopsWhenAsked) {
  Serial run(paths(1));
  run.options.epochs = 1000000;
  run.options.should_stop = [&] { return run.algorithm.updates == 2; };
  const auto result = run.run();
  EXPECT_EQ(result.reason, StopReason::interrupted);
  EXPECT_EQ(result.state.epoch, 2);
  EXPECT_TRUE(result.all_sent_goodbye);
}

TEST(SerialLoop, StopsInTime) {
  Serial run(paths(1));
  run.options.epochs = 1000000;
  run.options.seconds = 100;
  LoopState start;
  start.seconds = 100.5;
  const auto result = run.run(start);
  EXPECT_EQ(result.reason, StopReason::seconds);
  EXPECT_EQ(result.state.epoch, 0);
  EXPECT_EQ(name(result.reason), "time is up");
}

}  // namespace
}  // namespace rlgo::learner

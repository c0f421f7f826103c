#include "learner/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "actors/actor_loop.h"
#include "core/base/error.h"
#include "learner/distributed/actor_registry.h"
#include "tests/support/loop.h"

namespace rlgo::learner {
namespace {

using comm::Tag;
using test_parts::Counter, test_parts::Diary, test_parts::paths, test_parts::Versioned;

// A learner whose only actor is written out by the test, message by message: `script` is called once for each turn.
struct Scripted {
  explicit Scripted(std::function<bool(comm::Mailbox&)> script) {
    options.epochs = 1;
    options.steps_per_epoch = 4;
    options.turn = [this, script] { return script(actor_box); };
    options.drain_s = 0;
  }
  LoopResult run(comm::Handlers handlers = {}) {
    Loop loop(learner_box, algorithm, options, diary.hooks(), std::move(handlers));
    return loop.run();
  }
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(2);
  comm::Mailbox learner_box{*comms[0]}, actor_box{*comms[1]};
  Counter algorithm;
  LoopOptions options;
  Diary diary;
};

mdp::Trajectory trajectory(int64_t episode, int64_t version, size_t steps) {
  mdp::Trajectory t;
  t.rank = 1;
  t.episode = episode;
  t.weights_version = version;
  t.initial_cost_us = t.best_cost_us = 10;
  t.steps.resize(steps);
  return t;
}

comm::Heartbeat exhausted(const comm::Weights& weights) {
  comm::Heartbeat beat;
  beat.version = weights.version;
  beat.quota_steps = weights.quota_steps;
  return beat;
}

std::optional<comm::Incoming> newest(comm::Mailbox& box, Tag tag) {
  std::optional<comm::Incoming> message;
  while (auto next = box.take(tag)) message = std::move(next);
  return message;
}

TEST(Loop, OldTrajectoriesAreStoredButNotLearnedFrom) {
  int64_t episode = 0;
  Scripted run([&](comm::Mailbox& box) {
    if (episode == 0) box.send(0, Tag::hello, encode(comm::Hello{}));
    const auto message = newest(box, Tag::weights);
    if (!message) return false;
    const auto version = comm::decode<comm::Weights>(message->payload).version;
    // Two versions old, one, none.
    for (int64_t lag : {2, 1, 0})
      box.send(0, Tag::trajectory, mdp::encode(trajectory(episode++, version - lag < 0 ? 0 : version - lag, 2)));
    return false;
  });
  run.options.epochs = 4;
  run.options.max_lag = 1;
  const auto result = run.run();
  EXPECT_EQ(result.state.epoch, 4);
  EXPECT_EQ(result.state.episodes, 12);
  EXPECT_EQ(result.state.dropped, 2);  // of versions 2 and 3; before, nothing can be that old
  EXPECT_EQ(run.diary.trajectories.size(), 12u);
  EXPECT_EQ(run.algorithm.steps, 20);
  EXPECT_EQ(run.diary.epochs[0].lag_max, 0);
  EXPECT_EQ(run.diary.epochs[3].lag_min, 0);
  EXPECT_EQ(run.diary.epochs[3].lag_max, 1);
  EXPECT_EQ(run.diary.epochs[3].lag_mean, 0.5);
  EXPECT_EQ(run.diary.epochs[3].dropped, 1);
}

TEST(Loop, PermitsMoreWhereEpisodesAreMissing) {
  std::vector<int64_t> quotas;
  int with_weights = 0;
  Scripted run([&](comm::Mailbox& box) {
    if (quotas.empty()) box.send(0, Tag::hello, encode(comm::Hello{}));
    const auto message = newest(box, Tag::weights);
    const auto more = newest(box, Tag::quota);
    if (!message && !more) return quotas.empty();
    if (quotas.size() < 3) with_weights += message ? 1 : 0;
    comm::Weights weights;
    if (message) weights = comm::decode<comm::Weights>(message->payload);
    if (more) weights.quota_steps = comm::decode<comm::Quota>(more->payload).quota_steps;
    quotas.push_back(weights.quota_steps);
    // A third of what is needed, then "used up".
    box.send(0, Tag::trajectory, mdp::encode(trajectory(static_cast<int64_t>(quotas.size()), weights.version, 2)));
    box.send(0, Tag::heartbeat, encode(exhausted(weights)));
    return false;
  });
  run.options.steps_per_epoch = 6;
  EXPECT_EQ(run.run().state.epoch, 1);
  EXPECT_EQ(quotas, (std::vector<int64_t>{6, 12, 18}));
  EXPECT_EQ(with_weights, 1) << "a larger quota does not need the weights again";
}

TEST(Loop, OtherObservationsAreAnError) {
  Scripted run([&](comm::Mailbox& box) {
    box.send(0, Tag::hello, encode(comm::Hello{.spec_hash = 4, .host = ""}));
    return false;
  });
  run.options.spec_hash = 5;
  EXPECT_THROW(run.run(), Error);
}

TEST(Loop, BrokenMessagesAreDroppedAndCounted) {
  int turn = 0;
  Scripted run([&](comm::Mailbox& box) {
    auto bad = trajectory(1, 0, 4), foreign = trajectory(2, 0, 4), sound = trajectory(3, 0, 4);
    bad.steps[3].info.cost_us = std::nan("");
    bad.spec_hash = sound.spec_hash = 5;
    foreign.spec_hash = 77;
    const std::string good = mdp::encode(sound);
    for (const std::string& payload :
         {std::string("none"), good.substr(0, good.size() / 2), mdp::encode(bad), mdp::encode(foreign)}) {
      if (turn == 0) box.send(0, Tag::trajectory, payload);
    }
    if (turn == 0) box.send(0, Tag::heartbeat, "x");
    if (turn++ == 1) box.send(0, Tag::trajectory, good);
    return false;
  });
  run.options.spec_hash = 5;
  const auto result = run.run();
  EXPECT_EQ(result.state.epoch, 1);
  EXPECT_EQ(run.algorithm.steps, 4);
  EXPECT_EQ(result.state.lost, 4);
}

TEST(Loop, AnActorThatSendsBrokenMessagesOnlyIsAnError) {
  Scripted run([&](comm::Mailbox& box) {
    box.send(0, Tag::trajectory, "no trajectory");
    return false;
  });
  EXPECT_THROW(run.run(), Error);
}

TEST(Loop, OtherMessagesGoToTheirHandlers) {
  bool asked = false;
  Scripted run([&](comm::Mailbox& box) {
    if (!asked) box.send(0, Tag::cost_request, "how much?");
    asked = true;
    if (const auto answer = box.take(Tag::cost_answer)) {
      EXPECT_EQ(answer->payload, "3 us");
      box.send(0, Tag::trajectory, mdp::encode(trajectory(0, 0, 9)));
    }
    return false;
  });
  comm::Handlers handlers;
  handlers[Tag::cost_request] = [&](const comm::Incoming& message) {
    EXPECT_EQ(message.payload, "how much?");
    run.learner_box.send(message.source, Tag::cost_answer, "3 us");
  };
  EXPECT_EQ(run.run(handlers).state.epoch, 1);
}

TEST(Loop, AnActorThatLeavesCounts) {
  Scripted run([&](comm::Mailbox& box) {
    box.send(0, Tag::goodbye, encode(comm::Heartbeat{}));
    return false;
  });
  int polls = 0;
  run.options.should_stop = [&] { return ++polls > 3; };  // the learner sees the signal a little later than the actor
  EXPECT_EQ(run.run().reason, StopReason::interrupted);
  EXPECT_THAT(run.diary.lines, testing::Contains("actor 1 left"));
}

TEST(Loop, RanksThatAreNotThereKeepTheirEpisodeNumbers) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox box(*comms[0]);
  Counter algorithm;
  LoopState start;
  start.next_episode = {0, 5, 7, 9};
  LoopOptions options;
  options.epochs = 0;
  options.drain_s = 0;
  Loop loop(box, algorithm, options, {}, {}, start);
  EXPECT_THAT(loop.run().state.next_episode, testing::ElementsAre(0, 5, 7, 9));
}

TEST(Loop, IsForRankZero) {
  auto comms = comm::local_comms(2);
  comm::Mailbox box(*comms[1]);
  NoAlgorithm algorithm;
  EXPECT_THROW(Loop(box, algorithm, {}, {}), Error);
  EXPECT_EQ(algorithm.weights(), "");
}

TEST(ActorRegistry, LivesOfAnActor) {
  ActorRegistry registry(3);
  EXPECT_EQ(registry.hoped_for(), 2);
  EXPECT_TRUE(registry.living().empty());
  EXPECT_FALSE(registry.all_exhausted(0, 0, 60));
  EXPECT_EQ(registry.heard(2), ActorRegistry::State::expected);
  EXPECT_EQ(registry.heard(2), ActorRegistry::State::alive);
  EXPECT_EQ(registry.living(), std::vector<int>{2});
  registry.beat(2, {.version = 3, .quota_steps = 10, .quota_left = 0});
  EXPECT_TRUE(registry.all_exhausted(3, 10, 60));
  EXPECT_FALSE(registry.all_exhausted(3, 20, 60));
  EXPECT_FALSE(registry.all_exhausted(4, 10, 60));
  EXPECT_FALSE(registry.all_exhausted(3, 10, -1));  // nobody but quiet ones
  EXPECT_EQ(registry.heard(1), ActorRegistry::State::expected);
  EXPECT_FALSE(registry.all_exhausted(3, 10, 60));
  EXPECT_FALSE(registry.any_expected());
  EXPECT_FALSE(registry.any_lost());
  EXPECT_EQ(registry.lose_silent(-1), (std::vector<int>{1, 2}));
  EXPECT_EQ(registry.hoped_for(), 0);
  EXPECT_TRUE(registry.any_lost());
  EXPECT_EQ(registry.heard(1), ActorRegistry::State::lost);
  registry.sent_goodbye(1);
  EXPECT_EQ(registry.heard(1), ActorRegistry::State::gone);
  EXPECT_TRUE(registry.any_gone());
}

// Actors in threads of their own. `silent` sends hello and no more.
struct Threads {
  explicit Threads(int ranks) : comms(comm::local_comms(ranks)) {
    options.epochs = 5;
    options.steps_per_epoch = 200;
    options.drain_s = 30;
  }
  LoopResult run(int silent = 0) {
    std::vector<std::thread> threads;
    for (int rank = 1; rank < static_cast<int>(comms.size()); ++rank)
      threads.emplace_back([=, this] { act(rank, rank == silent); });
    comm::Mailbox box(*comms[0]);
    Loop loop(box, algorithm, options, diary.hooks());
    const auto result = loop.run();
    for (auto& thread : threads) thread.join();
    return result;
  }
  void act(int rank, bool silent) {
    const auto envs = paths(2);
    Versioned policy;
    comm::Mailbox box(*comms[static_cast<size_t>(rank)]);
    actors::ActorLoop actor(box, *envs, policy, {});
    if (silent) return;
    EXPECT_EQ(actor.run([] { return false; }), actors::ActorEnd::stopped);
    sent += actor.steps_sent();
  }
  std::vector<std::unique_ptr<comm::Comm>> comms;
  Counter algorithm;
  LoopOptions options;
  Diary diary;
  std::atomic<int64_t> sent = 0;
};

TEST(Loop, SeveralActors) {
  Threads run(4);
  const auto result = run.run();
  EXPECT_EQ(result.reason, StopReason::epochs);
  EXPECT_TRUE(result.all_sent_goodbye);
  EXPECT_EQ(result.state.steps, run.sent.load());  // nothing is lost at the end
  EXPECT_EQ(result.state.episodes, static_cast<int64_t>(run.diary.trajectories.size()));
  std::vector<std::pair<int32_t, int64_t>> names;
  for (const auto& t : run.diary.trajectories) names.emplace_back(t.rank, t.episode);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const auto& report : run.diary.epochs) {
    EXPECT_GE(report.steps, 200);
    EXPECT_LE(report.lag_max, 1);
    EXPECT_GE(report.lag_min, 0);
  }
}

TEST(Loop, WithoutLagEveryEpochIsOnPolicy) {
  Threads run(3);
  run.options.max_lag = 0;
  const auto result = run.run();
  EXPECT_EQ(result.state.epoch, 5);
  for (const auto& report : run.diary.epochs) EXPECT_EQ(report.lag_max, 0);
}

TEST(Loop, NobodyWaitsLongForASilentActor) {
  Threads run(4);
  run.options.max_lag = 0;  // two thirds of an epoch's steps are all that the others may play at first
  run.options.quiet_s = 2;
  const auto result = run.run(3);
  EXPECT_EQ(result.state.epoch, 5);  // without a loss: the actor's timeout is two minutes
  EXPECT_FALSE(result.any_lost);
  EXPECT_EQ(run.diary.epochs.back().actors, 3);
}

TEST(Loop, ReproducibleRunsLearnFromTheSameEpisodesInTheSameOrder) {
  const auto play = [] {
    Threads run(4);
    run.options.reproducible = true;
    run.run();
    return run.algorithm.names;
  };
  const auto once = play();
  EXPECT_GT(once.size(), 5u * 20);  // episodes of at most 10 steps
  EXPECT_EQ(once, play());
}

TEST(Loop, GoesOnWithoutASilentActor) {
  Threads run(4);
  run.options.actor_timeout_s = 2.5;  // actors send a heartbeat each second
  int64_t updates_at_loss = -1;
  auto& algorithm = run.algorithm;
  run.options.epochs = 1000000;
  run.options.should_stop = [&] {
    const bool reported = std::any_of(run.diary.lines.begin(), run.diary.lines.end(), [](const auto& line) {
      return line.find("actor 3 is lost") != std::string::npos;
    });
    if (reported && updates_at_loss < 0) updates_at_loss = algorithm.updates;
    return reported && algorithm.updates > updates_at_loss + 3;
  };
  const auto result = run.run(3);
  EXPECT_EQ(result.reason, StopReason::interrupted);
  EXPECT_EQ(run.diary.epochs.back().actors, 2);
  EXPECT_TRUE(result.all_sent_goodbye);
}

// Its first message is a hello all the same: it was stopped before it sent one.
TEST(Loop, AnActorThatWasLostBeforeItsHelloIsBack) {
  auto comms = comm::local_comms(2);
  comm::Mailbox box(*comms[0]), actor(*comms[1]);
  Counter algorithm;
  Diary diary;
  LoopOptions options;
  options.min_actors = 0;
  options.actor_timeout_s = 0.05;
  options.drain_s = 0;
  auto hooks = diary.hooks();
  hooks.service = [&] {
    if (diary.lines.size() == 1) actor.send(0, Tag::hello, encode(comm::Hello{}));
  };
  const Stopwatch watch;
  options.should_stop = [&] { return diary.lines.size() > 1 || watch.seconds() > 20; };
  Loop(box, algorithm, options, hooks).run();
  ASSERT_GT(diary.lines.size(), 1u);
  EXPECT_THAT(diary.lines[0], testing::HasSubstr("actor 1 is lost"));
  EXPECT_EQ(diary.lines[1], "actor 1 is back");
  EXPECT_TRUE(actor.take(Tag::weights));
}

TEST(ActorRegistry, AnActorThatStartsHasLonger) {
  ActorRegistry registry(3);
  registry.heard(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double silent_s = registry.actor(1).since_heard.seconds();
  EXPECT_EQ(registry.lose_silent(0.9 * silent_s), std::vector<int>{1});
  EXPECT_EQ(registry.lose_silent(0.1 * silent_s), std::vector<int>{2});
}

// A job may be suspended as a whole: each rank then hears the others later than it looks at its clock.
TEST(Loop, NobodyIsLostWhileOneDidNotListen) {
  auto comms = comm::local_comms(2);
  comm::Mailbox box(*comms[0]), actor_box(*comms[1]);
  const auto envs = paths(1);
  Versioned policy;
  actors::ActorOptions actor_options;
  actor_options.heartbeat_s = 0.01;
  actor_options.learner_timeout_s = 0.2;
  actors::ActorLoop actor(actor_box, *envs, policy, actor_options);
  Counter algorithm;
  Diary diary;
  LoopOptions options;
  options.actor_timeout_s = 0.2;
  options.drain_s = 0;
  auto hooks = diary.hooks();
  int services = 0;
  hooks.service = [&] {
    if (++services == 3) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  };
  options.should_stop = [&] { return services > 10; };
  Loop(box, algorithm, options, hooks).run();
  EXPECT_THAT(diary.lines, testing::Not(testing::Contains(testing::HasSubstr("is lost"))));
  actor.beat();
}

TEST(Loop, TooFewActorsEndTheRun) {
  Threads run(3);
  run.options.actor_timeout_s = 2.5;
  run.options.epochs = 1000000;
  run.options.min_actors = 2;
  const auto result = run.run(2);
  EXPECT_EQ(result.reason, StopReason::too_few_actors);
  EXPECT_TRUE(result.all_sent_goodbye);
}

}  // namespace
}  // namespace rlgo::learner

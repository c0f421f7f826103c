// The loop where one actor rank decides for the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <tuple>

#include "actors/actor_loop.h"
#include "learner/distributed/aggregator.h"
#include "learner/loop.h"
#include "tests/support/drawn_policy.h"
#include "tests/support/loop.h"

namespace rlgo::learner {
namespace {

// Of rank 1, 2, ... the last one decides for the others, unless it is `silent`: then it sends hello, and no more.
struct Job {
  explicit Job(int size, bool is_silent = false) : ranks(size), silent(is_silent) {
    options.epochs = 5;
    options.steps_per_epoch = 200;
    options.drain_s = silent ? 1 : 30;
    options.reproducible = true;
    options.inference.assign(static_cast<size_t>(ranks), ranks - 1);
    asking.timeout_s = silent ? 0.05 : 100;
  }
  LoopResult run() {
    std::vector<std::thread> threads;
    for (int rank = 1; rank < ranks; ++rank) threads.emplace_back([=, this] { act(rank); });
    comm::Mailbox box(*comms[0]);
    comm::Handlers handlers;
    handlers[comm::Tag::stats] = [this](const comm::Incoming& message) {
      logged[message.source].push_back(message.payload);
    };
    const auto result = Loop(box, algorithm, options, diary.hooks(), handlers).run();
    for (auto& thread : threads) thread.join();
    return result;
  }
  void act(int rank) {
    const auto envs = test_parts::paths(2);
    test::DrawnRandom policy;
    comm::Mailbox box(*comms[static_cast<size_t>(rank)]);
    actors::ActorOptions actor_options;
    actor_options.inference_rank = ranks - 1;
    actor_options.inference = asking;
    actor_options.via = aggregates() && rank > 1 ? 1 : 0;
    Aggregator aggregator(box, {});
    if (aggregates() && rank == 1) actor_options.tend = [&] { aggregator.tick(); };
    actors::ActorLoop actor(box, *envs, policy, actor_options,
                            aggregates() && rank == 1 ? aggregator.handlers() : comm::Handlers());
    if (silent && rank == ranks - 1) return;
    EXPECT_EQ(actor.run([] { return false; }), actors::ActorEnd::stopped);
    if (aggregates() && rank == 1) aggregator.drain(60);
    (rank == ranks - 1 ? decided_there : decided_here) += policy.decided;
  }
  bool aggregates() const { return !options.via.empty(); }

  int ranks;
  bool silent;
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(ranks);
  actors::InferenceOptions asking;
  test_parts::Counter algorithm;
  LoopOptions options;
  test_parts::Diary diary;
  std::map<int, std::vector<std::string>> logged;
  std::atomic<int64_t> decided_here = 0, decided_there = 0;
};

TEST(InferenceLoop, OneDecidesAndTheOthersPlay) {
  Job job(4);
  const auto result = job.run();
  EXPECT_EQ(result.state.epoch, 5);
  EXPECT_TRUE(result.all_sent_goodbye);
  for (const auto& t : job.diary.trajectories) EXPECT_LT(t.rank, 3);
  EXPECT_EQ(job.decided_here, 0);
  EXPECT_EQ(job.decided_there, result.state.steps);  // an epoch ends when nothing runs any more
  const auto& last = job.diary.epochs.back();
  EXPECT_EQ(last.inference.decided, result.state.steps);
  EXPECT_EQ(last.inference.fallback, 0);
  EXPECT_EQ(last.actors, 3);
  for (const auto& report : job.diary.epochs) EXPECT_EQ(report.lag_max, 0);
}

TEST(InferenceLoop, EpisodesAreThoseOfActorsThatDecideThemselves) {
  const auto actions = [](Job& job) {
    job.run();
    std::map<std::pair<int32_t, int64_t>, std::vector<mdp::Action>> found;
    for (const auto& t : job.diary.trajectories) {
      for (const auto& step : t.steps) found[{t.rank, t.episode}].push_back(step.action);
    }
    return found;
  };
  Job asking(3), alone(3);
  alone.asking.timeout_s = 1e-9;  // rank 2 answers, too late
  const auto there = actions(asking), here = actions(alone);
  EXPECT_GT(there.size(), 100u);
  EXPECT_EQ(there, here);
  EXPECT_GT(alone.decided_here, 0);
}

// The inference rank gets its weights by way of one that waits for its answer.
TEST(InferenceLoop, BehindAnAggregatorThatAsks) {
  Job job(4);
  job.options.via = {0, 1, 1, 1};
  const auto result = job.run();
  EXPECT_EQ(result.state.epoch, 5);
  EXPECT_TRUE(result.all_sent_goodbye);
  EXPECT_EQ(job.decided_here, 0);
}

TEST(InferenceLoop, NothingIsLostWhereItIsSilent) {
  Job job(4, true);
  const auto result = job.run();
  EXPECT_EQ(result.state.epoch, 5);
  EXPECT_EQ(result.state.lost, 0);
  EXPECT_GE(job.decided_here, result.state.steps);
  EXPECT_EQ(job.decided_there, 0);
  for (int rank : {1, 2}) EXPECT_THAT(job.logged[rank], testing::ElementsAre(testing::HasSubstr("has not answered")));
}

TEST(ActorRegistry, InferenceRanksPlayNothing) {
  ActorRegistry registry(4, 1, {0, 3, 3, 3});
  EXPECT_EQ(registry.hoped_for(), 2);
  for (int rank : {1, 2, 3}) registry.heard(rank);
  EXPECT_EQ(registry.hoped_for(), 2);
  EXPECT_EQ(registry.real_ones(registry.living()), (std::vector<int>{1, 2}));
  EXPECT_EQ(registry.inference_ranks(registry.living()), std::vector<int>{3});
  for (int rank : {1, 2})
    registry.beat(rank, {.version = 0, .quota_steps = 9, .inference = {.decided = 4, .fallback = 2}});
  registry.beat(3, {.version = 0, .quota_left = 0, .inference = {.answered = 9, .batches = 3}});
  registry.beat(3, {});  // a sign of life alone
  EXPECT_TRUE(registry.all_exhausted(0, 9, 60));
  EXPECT_EQ(registry.inference_counts(),
            (comm::InferenceCounts{.decided = 8, .fallback = 4, .answered = 9, .batches = 3}));
}

TEST(Loop, RanksThatServeOthersAreChosenWhereTheOptionsStateIt) {
  const int nodes[] = {0, 0, 0, 0};
  LoopOptions options;
  choose_ranks(options, actors::Inference::actor, nodes);
  EXPECT_TRUE(options.via.empty() && options.inference.empty());
  options.aggregate = true;
  choose_ranks(options, actors::Inference::node, nodes);
  EXPECT_EQ(options.via, (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(options.inference, (std::vector<int>{0, 3, 3, 3}));
}

}  // namespace
}  // namespace rlgo::learner

#include "learner/distributed/aggregator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/comm/protocol.h"
#include "learner/loop.h"
#include "tests/support/loop.h"

namespace rlgo::learner {
namespace {

using comm::Tag;
using testing::ElementsAre;

TEST(Aggregator, OneForEachNodeThatHasThreeActors) {
  const int nodes[] = {0, 0, 0, 0, 7, 7, 7, 9, 9, 7};
  EXPECT_THAT(choose_aggregators(nodes, 1), ElementsAre(0, 1, 1, 1, 4, 4, 4, 0, 0, 4));
  EXPECT_THAT(choose_aggregators(nodes, 2), ElementsAre(0, 0, 0, 0, 4, 4, 4, 0, 0, 4));
}

// Ranks 2 and 3 behind rank 1.
struct Node {
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(4);
  comm::Mailbox zero{*comms[0]}, one{*comms[1]}, two{*comms[2]}, three{*comms[3]};
  std::vector<int64_t> stored;
  Aggregator aggregator{one, {.bundle_s = 0}, [this](const Episode& e) { stored.push_back(e->facts.episode); }};
  // What its rank's loop does.
  void turn() {
    const auto handlers = aggregator.handlers();
    while (const auto message = one.take()) {
      if (const auto found = handlers.find(message->tag); found != handlers.end()) found->second(*message);
    }
    aggregator.tick();
  }
};

std::string episode(int32_t rank, int64_t number) {
  mdp::Trajectory t;
  t.rank = rank;
  t.episode = number;
  t.initial_cost_us = t.best_cost_us = 10;
  t.steps.resize(2);
  return mdp::encode(t);
}

TEST(Aggregator, PassesOnInOneMessageAndStores) {
  Node node;
  node.two.send(1, Tag::hello, encode(comm::Hello{}));
  node.three.send(1, Tag::trajectory, episode(3, 8));
  node.three.send(1, Tag::trajectory, "damaged");
  node.two.send(1, Tag::trajectory, episode(2, 5));
  node.zero.send(1, Tag::heartbeat, encode(comm::Heartbeat{}));  // is not sent back
  node.turn();
  const auto message = node.zero.take();
  ASSERT_TRUE(message && message->tag == Tag::bundle);
  std::vector<std::pair<int, std::string>> found;
  for (const auto& item : comm::decode_bundle(message->payload)) found.emplace_back(item.source, name(item.tag));
  EXPECT_THAT(found, testing::UnorderedElementsAre(std::pair{2, "hello"}, std::pair{3, "trajectory"},
                                                   std::pair{3, "trajectory"}, std::pair{2, "trajectory"}));
  EXPECT_THAT(node.stored, testing::UnorderedElementsAre(8, 5));
  EXPECT_FALSE(node.zero.take());
}

TEST(Aggregator, HandsOutWhatIsForMany) {
  Node node;
  comm::FanOut order{.ranks = {1, 3}, .tag = Tag::quota, .newest_only = false, .payload = "q"};
  node.zero.send(1, Tag::fan_out, encode(order));
  order = {.ranks = {2, 3}, .tag = Tag::weights, .newest_only = true, .payload = "w"};
  node.zero.send(1, Tag::fan_out, encode(order));
  node.turn();
  EXPECT_EQ(node.two.take()->payload, "w");
  EXPECT_EQ(node.three.take()->payload, "q");
  EXPECT_EQ(node.three.take(Tag::weights)->payload, "w");
}

TEST(Aggregator, EndsOnceAllHaveSentGoodbye) {
  Node node;
  node.two.send(1, Tag::heartbeat, encode(comm::Heartbeat{}));
  node.two.send(1, Tag::goodbye, encode(comm::Heartbeat{}));
  node.aggregator.drain(60);
  EXPECT_EQ(comm::decode_bundle(node.zero.take()->payload).size(), 2u);
}

// Rank 0 treats what comes through an aggregator as if each actor had sent it.
TEST(Loop, ReadsBundlesAndSendsWeightsOncePerNode) {
  Node node;
  test_parts::Counter algorithm;
  LoopOptions options;
  options.epochs = 2;
  options.steps_per_epoch = 4;
  options.drain_s = 0;
  options.via = {0, 1, 1, 1};
  int64_t sent = 0;
  node.two.send(1, Tag::hello, encode(comm::Hello{}));
  node.three.send(1, Tag::hello, encode(comm::Hello{}));
  options.turn = [&] {
    node.turn();
    for (auto* box : {&node.two, &node.three}) {
      while (const auto message = box->take()) {
        if (message->tag == Tag::weights && sent < 4) box->send(1, Tag::trajectory, episode(box->rank(), sent++));
      }
    }
    return false;
  };
  test_parts::Diary diary;
  Loop loop(node.zero, algorithm, options, diary.hooks());
  const auto result = loop.run();
  EXPECT_EQ(result.state.epoch, 2);
  EXPECT_EQ(algorithm.steps, 8);
  EXPECT_THAT(result.state.next_episode, ElementsAre(0, 0, testing::Gt(0), testing::Gt(0)));
  EXPECT_EQ(node.zero.counters().sent(Tag::weights).messages, 0u);
  EXPECT_EQ(node.stored.size(), 4u);
}

TEST(Aggregator, DoesNotWaitForThoseThatGoAnotherWay) {
  Node node;
  node.two.send(1, Tag::heartbeat, encode(comm::Heartbeat{}));
  node.turn();
  EXPECT_FALSE(node.aggregator.alone());
  node.two.send(1, Tag::route, encode(comm::Route{}));
  node.turn();
  EXPECT_TRUE(node.aggregator.alone());
}

// An actor behind an aggregator, as little of it as the loop needs.
struct Member {
  comm::Mailbox& box;
  int via = 1;
  int64_t episodes = 0;
  bool greeted = false;
  void turn() {
    if (!std::exchange(greeted, true)) box.send(via, Tag::hello, encode(comm::Hello{}));
    while (const auto message = box.take()) {
      if (message->tag == Tag::route) {
        via = comm::decode<comm::Route>(message->payload).via;
        box.send(via, Tag::hello, encode(comm::Hello{}));
      }
      if (message->tag == Tag::weights) box.send(via, Tag::trajectory, episode(box.rank(), episodes++));
      if (message->tag == Tag::stop) box.send(via, Tag::goodbye, encode(comm::Heartbeat{}));
    }
    box.send(via, Tag::heartbeat, encode(comm::Heartbeat{}));
  }
};

// The aggregator falls silent after two epochs: its actors are kept, get the weights that it was sent, and what it
// still had is taken from it when it comes back.
TEST(Loop, GoesAroundASilentAggregator) {
  Node node;
  test_parts::Counter algorithm;
  LoopOptions options;
  options.epochs = 6;
  options.steps_per_epoch = 4;  // both members' episodes
  options.max_lag = 100;
  options.actor_timeout_s = 0.3;
  options.heartbeat_s = 0.1;
  options.drain_s = 5;
  options.via = {0, 1, 1, 1};
  test_parts::Diary diary;
  auto hooks = diary.hooks();
  std::vector<std::pair<int32_t, bool>> came;
  hooks.on_trajectory = [&](const Episode& e, bool passed_on) { came.emplace_back(e->facts.rank, passed_on); };
  Member two{node.two}, three{node.three};
  node.one.send(0, Tag::hello, encode(comm::Hello{}));
  hooks.service = [&] {
    two.turn();
    three.turn();
    if (algorithm.updates >= 2 && algorithm.updates < 5) return;
    node.one.send(0, algorithm.updates < 6 ? Tag::heartbeat : Tag::goodbye, encode(comm::Heartbeat{}));
    node.turn();
  };
  const auto result = Loop(node.zero, algorithm, options, hooks).run();
  EXPECT_EQ(result.state.epoch, 6);
  EXPECT_THAT(diary.lines, ElementsAre("actor 1 passes on no more what 2 others send: they send it themselves",
                                       testing::HasSubstr("actor 1 is lost"), "actor 1 is back"));
  EXPECT_EQ(two.via, 0);
  EXPECT_THAT(came, testing::Contains(std::pair{2, true}));
  EXPECT_THAT(came, testing::Contains(std::pair{2, false}));
  const auto passed_on = std::count_if(came.begin(), came.end(), [](const auto& one) { return one.second; });
  EXPECT_EQ(static_cast<size_t>(passed_on), node.stored.size());
  EXPECT_EQ(static_cast<int64_t>(came.size()), two.episodes + three.episodes);
}

// One that leaves by itself is gone around at once.
TEST(Loop, GoesAroundAnAggregatorThatLeaves) {
  Node node;
  test_parts::Counter algorithm;
  LoopOptions options;
  options.epochs = 4;
  options.steps_per_epoch = 4;
  options.max_lag = 100;
  options.drain_s = 5;
  options.via = {0, 1, 1, 1};
  test_parts::Diary diary;
  auto hooks = diary.hooks();
  Member two{node.two}, three{node.three};
  node.one.send(0, Tag::hello, encode(comm::Hello{}));
  bool left = false;
  hooks.service = [&] {
    two.turn();
    three.turn();
    if (algorithm.updates == 2 && !std::exchange(left, true)) node.one.send(0, Tag::goodbye, encode(comm::Heartbeat{}));
    if (!left) node.one.send(0, Tag::heartbeat, encode(comm::Heartbeat{}));
    if (!left) node.turn();
  };
  EXPECT_EQ(Loop(node.zero, algorithm, options, hooks).run().state.epoch, 4);
  EXPECT_THAT(diary.lines, ElementsAre("actor 1 left", testing::StartsWith("actor 1 passes on no more")));
}

// The actor's side: it shows both and sends the rest directly.
TEST(ActorLoop, ChangesItsRoute) {
  const auto comms = comm::local_comms(3);
  comm::Mailbox zero(*comms[0]), one(*comms[1]), two(*comms[2]);
  const auto envs = test_parts::paths(1);
  test_parts::Versioned policy;
  actors::ActorOptions options;
  options.via = 1;
  actors::ActorLoop actor(two, *envs, policy, options);
  EXPECT_TRUE(one.take(Tag::hello));
  one.send(2, Tag::route, encode(comm::Route{}));  // only rank 0 may decide it
  actor.turn();
  EXPECT_FALSE(zero.take());
  zero.send(2, Tag::route, encode(comm::Route{}));
  zero.send(2, Tag::weights, encode(comm::Weights{.version = 0, .quota_steps = 20, .weights = "0"}));
  for (int i = 0; i < 100; ++i) actor.turn();
  EXPECT_TRUE(one.take(Tag::route));
  EXPECT_FALSE(one.take(Tag::trajectory));
  EXPECT_EQ(zero.take()->tag, Tag::hello);
  EXPECT_TRUE(zero.take(Tag::trajectory));
}

// Only the rank's own aggregator may speak for it.
TEST(Loop, BundlesOfOthersAreDropped) {
  const auto comms = comm::local_comms(4);
  comm::Mailbox zero(*comms[0]), three(*comms[3]);
  test_parts::Counter algorithm;
  LoopOptions options;
  options.epochs = 1;
  options.drain_s = 0;
  options.via = {0, 1, 1, 0};
  int turns = 0;
  bool sent = false;
  options.turn = [&] {
    std::string bundle;
    comm::add_to_bundle(bundle, 2, Tag::goodbye, encode(comm::Heartbeat{}));
    if (!std::exchange(sent, true)) three.send(0, Tag::bundle, bundle);
    return false;
  };
  options.should_stop = [&] { return ++turns > 3; };
  test_parts::Diary diary;
  Loop(zero, algorithm, options, diary.hooks()).run();
  EXPECT_THAT(diary.lines, testing::Contains(testing::HasSubstr("actor 3 sent a bundle that is none")));
}

}  // namespace
}  // namespace rlgo::learner

#include "learner/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "learner/loop.h"
#include "tests/replay/store.h"
#include "tests/support/loop.h"

namespace rlgo::learner {
namespace {

Episode coded(int64_t episode, int steps) {
  auto t = replay::make_trajectory(replay::make_spec(), episode, steps);
  auto codes = mdp::code_observations(t);
  for (auto& step : t.steps) step.observation = {};
  t.last = {};
  return std::make_shared<const mdp::CodedTrajectory>(mdp::CodedTrajectory{std::move(t), std::move(codes)});
}

Episode broken(int64_t episode) {
  mdp::CodedTrajectory copy = *coded(episode, 2);
  copy.observations.add("no code", {});
  return std::make_shared<const mdp::CodedTrajectory>(std::move(copy));
}

TEST(Decoder, WhatWasDecodedAheadIsTheSame) {
  const std::vector<Episode> episodes = {coded(0, 3), coded(1, 4), coded(2, 1)};
  std::vector<std::string> notes;
  int rests = 0;
  Decoder plain, early;
  const auto expected = plain.take(episodes, notes, [&] { ++rests; });
  EXPECT_EQ(rests, 3);
  for (size_t i : {1, 0, 1}) early.ahead(episodes[i]);
  const auto found = early.take(episodes, notes, [&] { ++rests; });
  ASSERT_EQ(found.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(mdp::encode(found[i]), mdp::encode(expected[i])) << i;
  EXPECT_EQ(rests, 4) << "only the third was left to decode";
  EXPECT_TRUE(notes.empty());
}

TEST(Decoder, ABrokenEpisodeIsLeftOutAndReported) {
  const std::vector<Episode> episodes = {coded(0, 3), broken(8), coded(2, 1)};
  Decoder decoder;
  for (const auto& episode : episodes) decoder.ahead(episode);
  std::vector<std::string> notes;
  EXPECT_EQ(decoder.take(episodes, notes, {}).size(), 2u);
  EXPECT_THAT(notes, testing::ElementsAre(testing::HasSubstr("episode 8 of rank 3 is left out")));
}

// A thread decodes what is handed over, before and while an update takes its own.
TEST(Decoder, AThreadDecodesTheSame) {
  std::vector<Episode> first, second;
  for (int64_t i = 0; i < 12; ++i) (i % 3 == 0 ? second : first).push_back(coded(i, 3 + static_cast<int>(i)));
  first.push_back(broken(20));
  std::vector<std::string> notes;
  Decoder plain, threaded(true);
  for (const auto& episode : first) threaded.ahead(episode);
  size_t next = 0;
  const auto found = threaded.take(first, notes, [&] {
    while (next < second.size()) threaded.ahead(second[next++]);  // arrives meanwhile, and is kept
  });
  EXPECT_EQ(next, second.size());
  EXPECT_THAT(notes, testing::ElementsAre(testing::HasSubstr("episode 20")));
  first.pop_back();
  const auto expected = plain.take(first, notes, {});
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(mdp::encode(found[i]), mdp::encode(expected[i])) << i;
  int rests = 0;
  EXPECT_EQ(threaded.take(second, notes, [&] { ++rests; }).size(), second.size());
  EXPECT_EQ(rests, 0) << "all were decoded by the thread";
}

TEST(Decoder, ForgetsWhatWasNotAskedFor) {
  const auto dropped = coded(0, 3);
  Decoder decoder;
  std::vector<std::string> notes;
  decoder.ahead(dropped);
  EXPECT_GT(dropped.use_count(), 1);
  decoder.take({}, notes, {});
  EXPECT_EQ(dropped.use_count(), 1);
}

// The second episode comes only once the algorithm was given the first: the loop does not wait idly for the whole
// epoch.
TEST(Loop, LetsTheAlgorithmPrepareWhileItWaits) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox learner_box(*comms[0]), actor_box(*comms[1]);
  struct Early : test_parts::Counter {
    explicit Early(comm::Mailbox& box) : actor(box) {}
    void prepare(const Episode& episode) override {
      prepared.push_back(episode->facts.episode);
      if (prepared.size() == 1) actor.send(0, comm::Tag::trajectory, mdp::encode(*coded(5, 2)));
    }
    comm::Mailbox& actor;
    std::vector<int64_t> prepared;
  } algorithm(actor_box);
  actor_box.send(0, comm::Tag::hello, encode(comm::Hello{}));
  actor_box.send(0, comm::Tag::trajectory, mdp::encode(*coded(4, 2)));
  LoopOptions options;
  options.epochs = 1;
  options.seconds = 120;
  options.steps_per_epoch = 4;
  options.drain_s = 0;
  EXPECT_EQ(Loop(learner_box, algorithm, options, {}).run().reason, StopReason::epochs);
  EXPECT_EQ(algorithm.prepared.front(), 4);
  EXPECT_EQ(algorithm.steps, 4);
}

}  // namespace
}  // namespace rlgo::learner

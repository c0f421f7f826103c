// Learner and actors as ranks. With one rank there is no actor: the tests that need one skip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "actors/actor_loop.h"
#include "learner/loop.h"
#include "tests/mpi/world.h"
#include "tests/support/toy_env.h"

namespace rlgo::test {
namespace {

// Throws in every 50th step.
class FragileEnv : public PathToy {
 public:
  FragileEnv() : PathToy(9, 10) {}
  mdp::StepResult step(mdp::Action action) override {
    if (++steps_ % 50 == 0) fail("boom");
    return PathToy::step(action);
  }

 private:
  int steps_ = 0;
};

class LongWeights : public learner::Algorithm {
 public:
  std::string weights() override { return std::string(2000000, static_cast<char>('a' + updates % 26)); }
  learner::UpdateReport update(std::vector<learner::Episode> episodes, const learner::UpdateContext& context) override {
    for (const auto& t : episodes) learned_steps += static_cast<int64_t>(t->facts.steps.size());
    context.between();
    ++updates;
    return {};
  }
  int updates = 0;
  int64_t learned_steps = 0;
};

class Versioned : public actors::RandomPolicy {
 public:
  int64_t version() const override { return version_; }
  void load(std::string_view weights, int64_t version) override {
    EXPECT_EQ(weights.size(), 2000000u);
    EXPECT_EQ(weights.back(), static_cast<char>('a' + version % 26));
    EXPECT_GT(version, version_);
    version_ = version;
  }

 private:
  int64_t version_ = -1;
};

class MpiLoop : public testing::Test {
 protected:
  void SetUp() override {
    if (world().size() == 1) GTEST_SKIP() << "needs an actor";
    world().meet();
    options.epochs = 6;
    options.steps_per_epoch = 300;
    options.drain_s = 60;
  }
  bool learner() const { return world().rank() == 0; }
  learner::LoopResult learn() {
    learner::LoopHooks hooks;
    hooks.on_trajectory = [this](const learner::Episode& t, bool) {
      names.emplace_back(t->facts.rank, t->facts.episode);
    };
    hooks.on_epoch = [this](const learner::EpochReport& report, const learner::LoopState&) {
      epochs.push_back(report);
    };
    hooks.log_line = [this](const std::string& line) { lines.push_back(line); };
    learner::Loop loop(world().mailbox, algorithm, options, hooks);
    return loop.run();
  }
  template <typename Env, typename... Args>
  actors::ActorEnd act(Args... args) {
    std::vector<std::unique_ptr<mdp::Env>> envs;
    for (int i = 0; i < 2; ++i) envs.push_back(std::make_unique<Env>(args...));
    const auto batch = mdp::make_batch(std::move(envs));
    Versioned policy;
    actors::ActorOptions actor_options;
    actor_options.learner_timeout_s = 60;
    actors::ActorLoop actor(world().mailbox, *batch, policy, actor_options);
    return actor.run([] { return false; });
  }
  learner::LoopOptions options;
  LongWeights algorithm;
  std::vector<std::pair<int32_t, int64_t>> names;
  std::vector<learner::EpochReport> epochs;
  std::vector<std::string> lines;
};

TEST_F(MpiLoop, CountsLagsAndEnds) {
  if (!learner()) {
    EXPECT_EQ(act<PathToy>(9, 10), actors::ActorEnd::stopped);
    return;
  }
  const auto result = learn();
  EXPECT_EQ(result.reason, learner::StopReason::epochs);
  EXPECT_TRUE(result.all_sent_goodbye);
  EXPECT_EQ(result.state.version, 6);
  EXPECT_EQ(result.state.episodes, static_cast<int64_t>(names.size()));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  ASSERT_EQ(epochs.size(), 6u);
  int64_t steps = 0;
  for (const auto& report : epochs) {
    EXPECT_GE(report.steps, 300);
    EXPECT_LE(report.lag_max, 1);
    EXPECT_GT(report.bytes_in, 0u);
    steps += report.steps;
  }
  EXPECT_EQ(steps, algorithm.learned_steps);
  EXPECT_LE(algorithm.learned_steps, result.state.steps);
  // Two permissions of 600 steps for each version, and the episodes that run beyond them.
  EXPECT_LE(result.state.steps, 7 * (600 + 3 * 2 * 10 + 3));
}

TEST_F(MpiLoop, WithoutLag) {
  options.max_lag = 0;
  if (!learner()) {
    EXPECT_EQ(act<PathToy>(9, 10), actors::ActorEnd::stopped);
    return;
  }
  EXPECT_EQ(learn().state.epoch, 6);
  for (const auto& report : epochs) EXPECT_EQ(report.lag_max, 0);
}

TEST_F(MpiLoop, AnEnvironmentThatThrowsCostsEpisodes) {
  if (!learner()) {
    EXPECT_EQ(act<FragileEnv>(), actors::ActorEnd::stopped);
    return;
  }
  const auto result = learn();
  EXPECT_EQ(result.state.epoch, 6);
  EXPECT_GT(result.state.lost, 0);
  EXPECT_THAT(lines, testing::Contains(testing::HasSubstr("boom")));
}

TEST_F(MpiLoop, AnActorThatVanishes) {
  if (world().size() < 3) GTEST_SKIP() << "needs two actors";
  const int last = world().size() - 1;
  if (world().rank() == last) {
    world().mailbox.send(0, comm::Tag::hello, encode(comm::Hello{}));
    EXPECT_TRUE(world().mailbox.flush(60));
    return;  // and never another word
  }
  if (!learner()) {
    EXPECT_EQ(act<PathToy>(9, 10), actors::ActorEnd::stopped);
    return;
  }
  options.actor_timeout_s = 3;
  options.epochs = 1000000;
  const auto expected = fmt::format("actor {} is lost", last);
  int updates_at_loss = -1;
  options.should_stop = [&] {
    const bool lost =
        std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(expected); });
    if (lost && updates_at_loss < 0) updates_at_loss = algorithm.updates;
    return lost && algorithm.updates >= updates_at_loss + 3;
  };
  const auto result = learn();
  EXPECT_EQ(result.reason, learner::StopReason::interrupted);
  EXPECT_EQ(epochs.back().actors, last - 1);
  // The mailbox is shared by all tests: what comes next must reach that rank again.
  world().mailbox.remember(last);
}

TEST_F(MpiLoop, LearnerThatIsSilent) {
  if (learner()) {
    for (int from = 1; from < world().size(); ++from) world().wait_for(comm::Tag::stats, from);
    return;
  }
  std::vector<std::unique_ptr<mdp::Env>> envs;
  envs.push_back(std::make_unique<PathToy>(9, 10));
  const auto batch = mdp::make_batch(std::move(envs));
  Versioned policy;
  actors::ActorOptions actor_options;
  actor_options.learner_timeout_s = 0.2;
  actors::ActorLoop actor(world().mailbox, *batch, policy, actor_options);
  EXPECT_THROW(actor.run([] { return false; }), Error);
  world().mailbox.send(0, comm::Tag::stats, "gave up");
}

TEST_F(MpiLoop, InterruptedActorSendsGoodbye) {
  if (!learner()) {
    std::vector<std::unique_ptr<mdp::Env>> envs;
    envs.push_back(std::make_unique<PathToy>(9, 10));
    const auto batch = mdp::make_batch(std::move(envs));
    Versioned policy;
    actors::ActorLoop actor(world().mailbox, *batch, policy, {});
    EXPECT_EQ(actor.run([&] { return actor.steps_sent() > 50; }), actors::ActorEnd::interrupted);
    return;
  }
  options.epochs = 1000000;
  const auto result = learn();
  EXPECT_EQ(result.reason, learner::StopReason::too_few_actors);
  EXPECT_TRUE(result.all_sent_goodbye);
}

}  // namespace
}  // namespace rlgo::test

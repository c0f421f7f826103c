#include "learner/dream/dream_agent.h"

#include <gtest/gtest.h>

#include "actors/collector.h"
#include "actors/latent_env.h"
#include "learner/torch_tensors.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::PathToy;

class Keep : public actors::Sink {
 public:
  void on_trajectory(mdp::Trajectory t) override { all.push_back(std::move(t)); }
  void on_lost(const actors::LostEpisode& lost) override { ADD_FAILURE() << lost.what; }
  std::vector<mdp::Trajectory> all;
};

DreamAgentOptions options() {
  DreamAgentOptions o;
  o.world.encoder = {.rounds = 1, .width = 8, .block = nets::Block::local};
  o.world.hidden = 16;
  o.world.mixtures = 2;
  o.controller.width = 16;
  o.dream.batch = 8;
  o.dream.max_steps = 4;
  o.steps_per_epoch = 32;
  o.evaluate_every = 2;
  return o;
}

// The episode as an actor that dreams would send it: latents, no graphs.
mdp::Trajectory dreamed(mdp::Trajectory t) {
  const auto drop = [](mdp::Observation& o) {
    mdp::Observation kept;
    kept.counts = o.counts;
    kept.latent = o.latent;
    o = std::move(kept);
  };
  for (auto& step : t.steps) drop(step.observation);
  drop(t.last);
  t.dream = true;
  return t;
}

// An agent, and an actor that plays real episodes with its weights.
struct Training {
  explicit Training(const DreamAgentOptions& o)
      : agent({o, {}, PathToy(7).spec(), torch::kCPU, 1, 100, 40, PathToy(7).reset(1), {}}),
        actor(make_dreamer(o, PathToy(7).spec(), 1, torch::kCPU)),
        policy(actor) {}

  // Plans, plays and learns as the loop does. Returns what was planned and reported.
  std::pair<EpochPlan, std::map<std::string, double>> epoch(int64_t number, double progress) {
    const auto plan = agent.plan(number, progress, 32);
    policy.load(agent.weights(), number);
    std::vector<std::unique_ptr<mdp::Env>> list;
    for (int i = 0; i < 4; ++i) list.push_back(std::make_unique<PathToy>(7));
    actors::LatentEnv envs(mdp::make_batch(std::move(list)), actor);
    Keep keep;
    actors::Collector collector(envs, policy, keep, {.seed = static_cast<uint64_t>(number)});
    while (plan.real_steps > 0 && collector.round([&] { return collector.next_episode() < 12; }) > 0) {
    }
    std::vector<Episode> episodes;
    for (const auto& t : keep.all)
      episodes.push_back(std::make_shared<const mdp::CodedTrajectory>(mdp::decode_coded(mdp::encode(t))));
    for (size_t i = 0; late_dreams && i < keep.all.size(); ++i)
      episodes.insert(episodes.begin(), std::make_shared<const mdp::CodedTrajectory>(
                                            mdp::decode_coded(mdp::encode(dreamed(keep.all[i])))));
    const auto report = agent.update(std::move(episodes), {number, progress});
    notes = report.notes;
    return {plan, {report.values.begin(), report.values.end()}};
  }
  int64_t starts() const {
    Checkpoint c;
    agent.store(c);
    return c.tensors.at("starts/z").shape[0];
  }
  // The world model promises much more than there is.
  void exaggerate() {
    Checkpoint c;
    agent.store(c);
    c.tensors.at("world/model/reward_out.bias") = to_data(torch::full({1}, 4.0f));
    agent.restore(c);
  }

  DreamAgent agent;
  std::shared_ptr<actors::Dreamer> actor;
  actors::DreamerPolicy policy;
  std::vector<std::string> notes;
  bool late_dreams = false;  // come before the real episodes of each epoch
};

// Dreams continue beginning at real states after an evaluation has dreamed from the unmodified graph.
TEST(DreamAgent, ReplayedStartsSurviveAnEvaluation) {
  auto o = options();
  o.guard = 0;
  Training t(o);
  t.epoch(0, 0);
  EXPECT_GT(t.starts(), 1);
  const auto [first, dreamed] = t.epoch(1, 0.6);
  EXPECT_EQ(first.real_steps, 0);
  t.epoch(2, 0.7);
  const auto [evaluation, values] = t.epoch(3, 0.8);
  EXPECT_TRUE(std::isfinite(values.at("dream_return")));
  EXPECT_GT(t.starts(), 1);
}

// The published controller of World Models: a generation in each epoch of dreaming; PPO learns nothing. And an encoder
// that the first epoch's graphs train, once.
TEST(DreamAgent, ALinearControllerEvolves) {
  auto o = options();
  o.world.locations = false;
  o.world.counts = nets::CountModel::log;
  o.controller.controller = nets::Controller::cma_es;
  o.encoder = EncoderSource::autoencoder;
  o.guard = 0;
  Training t(o);
  const auto weights = [&](const char* name) {
    Checkpoint c;
    t.agent.store(c);
    return std::pair(c.tensors.at(std::string("network/") + name), c.tensors.at("world/model/encoder.op_table"));
  };
  const auto [before, encoder] = weights("xfer_score.weight");
  t.epoch(0, 0);
  ASSERT_FALSE(t.notes.empty());
  EXPECT_NE(t.notes[0].find("graph auto-encoder"), std::string::npos);
  const auto [same, trained] = weights("xfer_score.weight");
  EXPECT_EQ(before, same);
  EXPECT_NE(encoder, trained);
  const auto [plan, values] = t.epoch(1, 0.6);
  EXPECT_GT(values.at("dreamed_steps"), 0);
  EXPECT_FALSE(values.contains("policy_loss"));
  const auto [after, kept] = weights("xfer_score.weight");
  EXPECT_NE(before, after);
  EXPECT_EQ(trained, kept);
  Checkpoint c;
  t.agent.store(c);
  Training resumed(o);
  resumed.agent.restore(c);
  Checkpoint again;
  resumed.agent.store(again);
  EXPECT_EQ(c.tensors, again.tensors);
}

// The world model learns from the controller's own episodes, after they were compared with what it had dreamed of them.
TEST(DreamAgent, EvaluationsAreLearnedFromWhereAsked) {
  for (const bool on_policy : {true, false}) {
    auto o = options();
    o.on_policy = on_policy;
    Training t(o);
    t.epoch(0, 0);
    const auto [evaluation, values] = t.epoch(1, 0.6);
    EXPECT_EQ(evaluation.real_steps, 32);
    EXPECT_TRUE(std::isfinite(values.at("promise_dream")));
    EXPECT_FALSE(values.contains("policy_loss"));
    EXPECT_EQ(values.contains("wm_steps"), on_policy);
    if (on_policy) EXPECT_GT(values.at("wm_steps"), 0);
  }
}

TEST(DreamAgent, DreamsThatBreakTheirPromiseAreNotLearnedFrom) {
  Training t(options());
  t.epoch(0, 0);
  t.exaggerate();
  const auto [evaluation, values] = t.epoch(1, 0.6);  // before the first dreams
  EXPECT_EQ(evaluation.real_steps, 32);
  EXPECT_GT(values.at("promise_dream"), values.at("promise_real") + 5);
  ASSERT_EQ(t.notes.size(), 1u);
  EXPECT_NE(t.notes[0].find("dreams are not learned from"), std::string::npos) << t.notes[0];
  const auto [instead, learned] = t.epoch(2, 0.7);  // real play of the controller, for the model
  EXPECT_EQ(instead.real_steps, 32);
  EXPECT_EQ(learned.at("dreams_refused"), 1);
  EXPECT_GT(learned.at("wm_steps"), 0);
  EXPECT_FALSE(learned.contains("policy_loss"));
}

// Ranks that dream may still send when real steps are to be learned from.
TEST(DreamAgent, LateDreamsAreNotTakenForRealSteps) {
  auto o = options();
  o.actors = 1;
  Training t(o);
  t.late_dreams = true;
  const auto [collect, learned] = t.epoch(0, 0);
  EXPECT_GT(learned.at("wm_steps"), 0);
  t.exaggerate();
  const auto [evaluation, values] = t.epoch(1, 0.6);
  EXPECT_TRUE(std::isfinite(values.at("dream_return")));
  const auto [instead, refused] = t.epoch(2, 0.7);
  EXPECT_EQ(refused.at("dreams_refused"), 1);
  EXPECT_EQ(learned.at("wm_steps") > 0, refused.at("wm_steps") > 0);
}

TEST(DreamAgent, WithoutAGuardDreamsAreLearnedFromWhateverTheyPromise) {
  auto o = options();
  o.guard = 0;
  Training t(o);
  t.epoch(0, 0);
  t.exaggerate();
  const auto [plan, values] = t.epoch(1, 0.6);
  EXPECT_EQ(plan.real_steps, 0);
  EXPECT_TRUE(values.contains("policy_loss"));
  EXPECT_EQ(values.at("dreams_refused"), 0);
}

TEST(DreamAgent, TheVerdictIsKeptInTheCheckpoint) {
  Training t(options());
  t.epoch(0, 0);
  t.exaggerate();
  t.epoch(1, 0.6);
  Checkpoint c;
  t.agent.store(c);
  Training other(options());
  other.agent.restore(c);
  EXPECT_EQ(other.agent.plan(2, 0.7, 32).real_steps, 32);
}

TEST(Promise, IsKeptWithinTheGainThatBothAgreeOn) {
  EXPECT_TRUE(keeps_promise({.real = 2, .dream = 3, .deviation = 0}, 1));
  EXPECT_FALSE(keeps_promise({.real = 1, .dream = 30, .deviation = 0}, 1));
  EXPECT_FALSE(keeps_promise({.real = 3, .dream = 0.5, .deviation = 0}, 1));
  EXPECT_TRUE(keeps_promise({.real = 1, .dream = 30, .deviation = 0}, 0));   // no guard
  EXPECT_TRUE(keeps_promise({.real = 0, .dream = 1, .deviation = 0.6}, 1));  // chance
  EXPECT_FALSE(keeps_promise({.real = -1, .dream = 1, .deviation = 0.1}, 1));
}

// A model that has learned a path returns there what reality does, from the same states.
TEST(Promise, ReturnsAreOfTheSameStates) {
  auto o = options();
  Training t(o);
  t.agent.plan(0, 0.6, 32);
  t.policy.load(t.agent.weights(), 0);
  std::vector<std::unique_ptr<mdp::Env>> list;
  for (int i = 0; i < 4; ++i) list.push_back(std::make_unique<PathToy>(7));
  actors::LatentEnv envs(mdp::make_batch(std::move(list)), t.actor);
  Keep keep;
  actors::Collector collector(envs, t.policy, keep, {.seed = 3});
  while (collector.round([&] { return collector.next_episode() < 6; }) > 0) {
  }
  const auto check = t.agent.check(pointers(keep.all), 5);
  ASSERT_EQ(check.variants.size(), 4u);  // with and without each clip
  EXPECT_EQ(check.episodes, 6);
  const auto& one = check.variants[0].returns[0];
  EXPECT_EQ(one.steps, 1);
  EXPECT_EQ(one.states, check.states);
  double mean = 0;
  int64_t steps = 0;
  for (const auto& e : keep.all) mean += total_reward(e), steps += static_cast<int64_t>(e.steps.size());
  ASSERT_EQ(steps, check.states);
  EXPECT_NEAR(one.real, mean / static_cast<double>(steps), 1e-5);
}

// A world model that promises too much: with true rewards the same dreams promise what reality gives.
TEST(DreamAgent, TheSwapThatClosesTheGapNamesTheFault) {
  Training t(options());
  t.epoch(0, 0);
  t.exaggerate();
  std::vector<std::unique_ptr<mdp::Env>> list;
  for (int i = 0; i < 8; ++i) list.push_back(std::make_unique<PathToy>(7));
  const auto check = t.agent.swaps(mdp::make_batch(std::move(list)), 1, {2, 4}, 5);
  ASSERT_EQ(check.swaps.size(), 8u);
  EXPECT_EQ(check.starts, 8);
  EXPECT_NE(check.before, 0);
  const auto four = [&](size_t swap) { return check.swaps[swap].returns[1]; };
  const auto& reality = four(7);
  EXPECT_EQ(reality.deviation, 0);
  EXPECT_TRUE(check.swaps[4].truth.reward && !check.swaps[4].truth.masks && !check.swaps[4].truth.state);
  EXPECT_GT(four(0).mean - reality.mean, 5);
  EXPECT_LT(std::abs(four(4).mean - reality.mean), (four(0).mean - reality.mean) / 2);
  EXPECT_GT(four(3).mean - reality.mean, 5);  // true masks and states alone help nothing
  EXPECT_EQ(check.random.size(), 2u);
}

}  // namespace
}  // namespace rlgo::learner

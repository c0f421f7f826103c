#include "learner/ppo_algorithm.h"

#include <gtest/gtest.h>

#include <optional>

#include "actors/actor_loop.h"
#include "actors/evaluation.h"
#include "actors/network_policy.h"
#include "core/nets/actor_critic.h"
#include "core/nets/weights.h"
#include "learner/loop.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

std::unique_ptr<mdp::BatchEnv> paths() {
  std::vector<std::unique_ptr<mdp::Env>> envs;
  for (int i = 0; i < 2; ++i) envs.push_back(std::make_unique<test::PathToy>(5, 12));
  return mdp::make_batch(std::move(envs));
}

nets::Agent network() {
  nets::AgentOptions options;
  options.rounds = 1;
  options.width = 8;
  return nets::ActorCritic(test::PathToy(5).spec(), options, 3).ptr();
}

// Agent and actor in one process, as launch joins them.
struct Training {
  LoopResult go(int64_t epochs) {
    LoopOptions options;
    options.epochs = epochs;
    options.steps_per_epoch = 32;
    options.spec_hash = envs->spec().hash();
    options.turn = [this] { return actor.turn(); };
    LoopHooks hooks;
    hooks.on_epoch = [this](const EpochReport& report, const LoopState&) { reports.push_back(report); };
    Loop loop(learner_box, algorithm, options, hooks);
    return loop.run();
  }
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(2);
  comm::Mailbox learner_box{*comms[0]}, actor_box{*comms[1]};
  std::unique_ptr<mdp::BatchEnv> envs = paths();
  PpoAlgorithm algorithm{network(), PpoOptions{}, 1};
  actors::NetworkPolicy policy{network(), -1};
  actors::ActorLoop actor{actor_box, *envs, policy, {}};
  std::vector<EpochReport> reports;
};

TEST(PpoAlgorithm, LearnsFromFreshDataInTheLoop) {
  Training run;
  const auto result = run.go(3);
  EXPECT_EQ(result.state.version, 3);
  ASSERT_EQ(run.reports.size(), 3u);
  for (const auto& report : run.reports) {
    EXPECT_EQ(report.lag_max, 0);
    std::map<std::string, double> named(report.update.values.begin(), report.update.values.end());
    EXPECT_EQ(named.at("transitions"), static_cast<double>(report.steps));
    EXPECT_LT(named.at("ratio_deviation"),
              1e-3);  // weights, masks and log-probabilities made the way to the actor and back
  }
  EXPECT_NE(run.algorithm.weights(), nets::pack(*network()));
}

TEST(PpoAlgorithm, IsAFunctionOfTheSeed) {
  Training a, b;
  a.go(2);
  b.go(2);
  EXPECT_EQ(a.algorithm.weights(), b.algorithm.weights());
}

TEST(PpoAlgorithm, GoesOnFromItsCheckpoint) {
  Training a, b;
  a.go(1);
  Checkpoint checkpoint;
  a.algorithm.store(checkpoint);
  EXPECT_NE(digest(b.algorithm), digest(a.algorithm));
  b.algorithm.restore(checkpoint);
  EXPECT_EQ(b.algorithm.weights(), a.algorithm.weights());
  EXPECT_EQ(digest(b.algorithm), digest(a.algorithm));  // the optimiser's moments too
  checkpoint.tensors.erase(checkpoint.tensors.begin());
  EXPECT_THROW(b.algorithm.restore(checkpoint), Error);
}

TEST(Algorithm, DigestLeavesOutWhatEachLearnerHasOfItsOwn) {
  struct Own : NoAlgorithm {
    void store(Checkpoint& c) const override { c.tensors[name] = {"uint8", {1}, std::string(1, 'x')}; }
    std::string name;
  } a, b;
  a.name = "starts/z";
  EXPECT_EQ(digest(a), digest(NoAlgorithm()));
  b.name = "network/z";
  EXPECT_NE(digest(b), digest(NoAlgorithm()));
}

}  // namespace
}  // namespace rlgo::learner

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "learner/ppo/trainer.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::HillToy;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

nets::ActorCritic make_agent(uint64_t seed = 1) {
  return nets::ActorCritic(HillToy().spec(), nets::AgentOptions{.rounds = 1, .width = 16}, seed);
}
std::vector<mdp::Trajectory> data(nets::ActorCritic& agent, int64_t steps = 100, uint64_t seed = 1) {
  auto envs = test::copies<HillToy>(4);
  return test::play(agent, envs, steps, seed);
}
UpdateStats update(PpoTrainer& trainer, const std::vector<mdp::Trajectory>& trajectories, uint64_t seed = 1) {
  Rng shuffle({seed});
  return trainer.update(trajectories, shuffle);
}

TEST(PpoTrainer, RatiosOfFreshDataAreOne) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {});
  trainer.set_weights_version(0);
  const auto stats = update(trainer, data(agent));
  EXPECT_LT(stats.ratio_deviation, 1e-4);
  EXPECT_GE(stats.transitions, 100);
  EXPECT_EQ(stats.skipped, 0);
}

TEST(PpoTrainer, DataThatLiesAboutItsPolicyIsAnError) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {});
  auto trajectories = data(agent);
  for (auto& step : trajectories[0].steps) step.log_prob_rule -= 0.5f;
  EXPECT_GT(update(trainer, trajectories).ratio_deviation, 0.1);  // the version is not known: reported
  trainer.set_weights_version(7);
  EXPECT_NO_THROW(update(trainer, trajectories));  // stale data: reported
  for (auto& t : trajectories) t.weights_version = 7;
  EXPECT_THAT([&] { update(trainer, trajectories); }, ThrowsMessage<Error>(HasSubstr("disagree on the policy")));
}

// One episode again and again (its states differ, so its returns can be fitted): values fit, the policy moves to the
// clip.
TEST(PpoTrainer, OverfitsOneEpisode) {
  auto agent = make_agent();
  PpoTrainer trainer(
      agent.ptr(),
      {.learning_rate = 3e-3, .epochs = 100, .minibatch = 1000, .entropy = 0, .max_grad_norm = 0, .target_kl = 0});
  auto trajectories = data(agent, 60);
  std::erase_if(trajectories, [](const auto& t) { return t.steps.size() != 4; });
  trajectories.resize(1);
  const auto first = update(trainer, trajectories);
  const auto last = update(trainer, trajectories);
  EXPECT_EQ(last.transitions, 4);
  EXPECT_LT(last.value_loss, 0.1 * first.value_loss);
  EXPECT_LT(last.location_value_loss, 0.1 * first.location_value_loss);
  EXPECT_LT(last.policy_loss, -0.05);
  EXPECT_GT(last.clip_fraction, 0.3);
}

TEST(PpoTrainer, SameSeedsGiveTheSameWeights) {
  std::vector<std::string> weights;
  for (int run = 0; run < 2; ++run) {
    auto agent = make_agent();
    PpoTrainer trainer(agent.ptr(), {.minibatch = 16});
    update(trainer, data(agent));
    weights.push_back(nets::pack(*agent));
  }
  EXPECT_EQ(weights[0], weights[1]);
}

// Save after one update, continue; load into a fresh trainer, continue: bit for bit the same.
TEST(PpoTrainer, StateRestoresExactly) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {.minibatch = 16});
  const auto trajectories = data(agent);
  update(trainer, trajectories);
  const auto weights = nets::pack(*agent);
  const auto state = trainer.state();
  update(trainer, trajectories, 2);

  auto other = make_agent(99);
  PpoTrainer resumed(other.ptr(), {.minibatch = 16});
  nets::unpack(*other, weights);
  resumed.load_state(state);
  update(resumed, trajectories, 2);
  EXPECT_EQ(nets::pack(*other), nets::pack(*agent));
  const auto a = trainer.state(), b = resumed.state();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(torch::equal(a[i].second, b[i].second)) << a[i].first;
}

TEST(PpoTrainer, ForeignStateIsAnError) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {});
  update(trainer, data(agent));
  auto state = trainer.state();
  state[1].second = torch::zeros({3});
  EXPECT_THAT([&] { trainer.load_state(state); }, ThrowsMessage<Error>(HasSubstr("another shape")));
  state.pop_back();
  EXPECT_THAT([&] { trainer.load_state(state); }, ThrowsMessage<Error>(HasSubstr("'returns' is missing")));
  state = trainer.state();
  state.emplace_back("adam/unknown/step", torch::zeros({1}));
  EXPECT_THROW(trainer.load_state(state), Error);
}

TEST(PpoTrainer, StopsAtTheTargetKl) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {.learning_rate = 0.02, .epochs = 50, .minibatch = 16, .target_kl = 0.01});
  const auto stats = update(trainer, data(agent));
  EXPECT_TRUE(stats.early_stop);
  EXPECT_GT(stats.last_kl, 0.01);
  EXPECT_LT(stats.minibatches, 50);
}

// How far the weights had moved before the update is not the update's doing.
TEST(PpoTrainer, StaleDataDoesNotSpendTheTargetKl) {
  auto agent = make_agent();
  const auto stale = data(agent);
  {
    torch::NoGradGuard no_gradients;
    Rng rng({5});
    for (auto& p : agent->parameters()) p.add_(nets::normal_init(p.sizes(), 0.3, rng));
  }
  PpoTrainer trainer(agent.ptr(), {.learning_rate = 1e-7, .epochs = 2, .minibatch = 20, .target_kl = 0.01});
  trainer.set_weights_version(1);
  const auto stats = update(trainer, stale);
  EXPECT_GT(stats.ratio_deviation, 0.1) << "the data is stale";
  EXPECT_FALSE(stats.early_stop);
  EXPECT_LT(stats.last_kl, 1e-4);
}

// The mean of the value's targets of data that this agent played, learned from after `change` of its weights.
double target_mean(double change, int64_t version) {
  auto agent = make_agent();
  const auto trajectories = data(agent);
  {
    torch::NoGradGuard no_gradients;
    Rng rng({5});
    for (auto& p : agent->parameters()) p.add_(nets::normal_init(p.sizes(), change, rng));
  }
  PpoTrainer trainer(agent.ptr(), {});
  trainer.set_weights_version(version);
  return update(trainer, trajectories).return_mean;
}

// Advantages of older data are those that the policy that played it saw.
TEST(PpoTrainer, TargetsOfStaleDataDoNotDependOnTodaysWeights) { EXPECT_EQ(target_mean(0.3, 1), target_mean(0, 0)); }

// After each trajectory, each batch whose policy is asked again (no version is set: all are), and each minibatch.
TEST(PpoTrainer, CallsBetweenAllThatTakesLong) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {.epochs = 2, .minibatch = 10, .target_kl = 0});
  int calls = 0;
  Rng shuffle({1});
  const auto trajectories = data(agent);
  const auto stats = trainer.update(trajectories, shuffle, [&] { ++calls; });
  const int64_t batches = (stats.transitions + 9) / 10;
  EXPECT_EQ(stats.minibatches, 2 * batches);
  EXPECT_EQ(calls, static_cast<int64_t>(trajectories.size()) + 3 * batches);
}

// Does to the gradients (float32) what a test wants; all other sums are this learner's own.
class FakeSum : public comm::DeviceGroup {
 public:
  explicit FakeSum(std::function<void(std::span<float>)> change) : change_(std::move(change)) {}
  int size() const override { return 1; }
  bool on_gpu() const override { return false; }
  void begin_sum(void* data, size_t count, comm::Number type) override {
    if (type == comm::Number::f32) change_({static_cast<float*>(data), count});
  }
  void wait() override {}
  std::string name() const override { return "fake"; }

 private:
  std::function<void(std::span<float>)> change_;
};

void let_others_change(PpoTrainer& trainer, std::function<void(std::span<float>)> change) {
  static const auto comm = comm::self_comm();
  static comm::Mailbox mailbox(*comm);
  trainer.set_group(std::make_shared<LearnerGroup>(std::make_shared<FakeSum>(std::move(change)), nullptr, mailbox,
                                                   std::vector<int>{0}, 1));
}

TEST(PpoTrainer, SumsEveryGradient) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {.epochs = 1, .minibatch = 1000});
  const auto before = nets::pack(*agent);
  size_t parameters = 0;
  for (const auto& p : agent->parameters()) parameters += static_cast<size_t>(p.numel());
  let_others_change(trainer, [&](std::span<float> gradients) {
    EXPECT_GE(gradients.size(), parameters);              // and what aligns them
    std::fill(gradients.begin(), gradients.end(), 0.0f);  // all other learners cancel this one out
  });
  const auto stats = update(trainer, data(agent));
  EXPECT_GE(stats.transitions, 100);
  EXPECT_EQ(stats.grad_norm, 0.0);
  // Adam moves nothing on zero gradients; only the value scale changed.
  auto after = make_agent(2);
  nets::unpack(*after, before);
  after->rescale_values(stats.value_shift, stats.value_scale);
  EXPECT_EQ(nets::pack(*after), nets::pack(*agent));
}

TEST(PpoTrainer, GradientsThatAreNotFiniteChangeNothing) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {.normalize_returns = false});
  const auto trajectories = data(agent);
  const auto before = nets::pack(*agent);
  let_others_change(trainer,
                    [](std::span<float> gradients) { gradients[0] = std::numeric_limits<float>::quiet_NaN(); });
  EXPECT_THAT([&] { update(trainer, trajectories); }, ThrowsMessage<Error>(HasSubstr("were not finite")));
  EXPECT_EQ(nets::pack(*agent), before);
}

TEST(PpoTrainer, BadTrajectoriesAreErrors) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {});
  const auto good = data(agent);
  auto bad = good;
  bad[0].steps[0].reward = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT([&] { update(trainer, bad); }, ThrowsMessage<Error>(HasSubstr("step 0 of episode")));
  bad = good;
  bad[1].spec_hash = 5;
  EXPECT_THAT([&] { update(trainer, bad); }, ThrowsMessage<Error>(HasSubstr("another environment")));
  bad = good;
  bad[0].steps[0].action = {2, 0};  // "collapse" is not legal in the first state
  EXPECT_THAT([&] { update(trainer, bad); }, ThrowsMessage<Error>(HasSubstr("not legal")));
}

TEST(PpoTrainer, NothingToLearnFrom) {
  auto agent = make_agent();
  PpoTrainer trainer(agent.ptr(), {});
  const auto before = nets::pack(*agent);
  EXPECT_EQ(update(trainer, {}).transitions, 0);
  EXPECT_EQ(nets::pack(*agent), before);
}

TEST(PpoOptions, OutOfBoundsAreErrors) {
  EXPECT_THAT([] { check(PpoOptions{.gamma = 1.5}); }, ThrowsMessage<Error>(HasSubstr("ppo.gamma': 1.5")));
  EXPECT_THROW(check(PpoOptions{.clip = 0}), Error);
  EXPECT_THROW(check(PpoOptions{.minibatch = 0}), Error);
  EXPECT_THROW(check(PpoOptions{.lambda = std::nan("")}), Error);
  EXPECT_NO_THROW(check(PpoOptions{}));
}

TEST(UpdateStats, NamesAreUniqueAndStable) {
  const auto named = UpdateStats{.policy_loss = 3}.named();
  std::set<std::string> names;
  for (const auto& item : named) names.insert(item.first);
  EXPECT_EQ(names.size(), named.size());
  EXPECT_EQ(named[4], (std::pair<std::string, double>{"policy_loss", 3.0}));
}

}  // namespace
}  // namespace rlgo::learner

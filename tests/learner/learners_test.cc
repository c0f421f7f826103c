// Two learners with parts of the data against one with the whole of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/nets/actor_critic.h"
#include "core/nets/weights.h"
#include "learner/distributed/gradients.h"
#include "learner/dream/trainer.h"
#include "learner/ppo/trainer.h"
#include "tests/support/learners.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::as_learners;
using test::HillToy;
using Trajectories = std::vector<mdp::Trajectory>;

nets::ActorCritic make_agent(torch::ScalarType type) {
  nets::ActorCritic agent(HillToy().spec(), nets::AgentOptions{.rounds = 1, .width = 16}, 1);
  agent->to(type);
  return agent;
}

Trajectories play(int64_t steps, uint64_t seed) {
  auto agent = make_agent(torch::kFloat32);
  auto envs = test::copies<HillToy>(4);
  return test::play(agent, envs, steps, seed);
}

// Parts of unequal numbers of transitions; the last of three is empty.
std::vector<Trajectories> cut(const Trajectories& all, size_t parts) {
  std::vector<Trajectories> result(parts);
  const size_t middle = all.size() * 2 / 5;
  result[0].assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(middle));
  result[1].assign(all.begin() + static_cast<std::ptrdiff_t>(middle), all.end());
  return result;
}

struct Outcome {
  std::vector<torch::Tensor> parameters;
  UpdateStats stats;
};

Outcome train_ppo(const PpoOptions& options, torch::ScalarType type, int updates, std::shared_ptr<LearnerGroup> group,
                  size_t place, size_t parts) {
  auto agent = make_agent(type);
  PpoTrainer trainer(agent.ptr(), options);
  if (group) trainer.set_group(group);
  Outcome outcome;
  for (int u = 0; u < updates; ++u) {
    const auto all = play(80, static_cast<uint64_t>(u + 1));
    Rng shuffle({7, static_cast<uint64_t>(u)});
    outcome.stats = trainer.update(group ? cut(all, parts)[place] : all, shuffle);
  }
  for (const auto& item : nets::named_tensors(*agent))
    outcome.parameters.push_back(item.second.detach().to(torch::kFloat64));
  return outcome;
}

double distance(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, (a[i] - b[i]).abs().max().item<double>());
  return worst;
}

double compare_ppo(const PpoOptions& options, torch::ScalarType type, int updates, int learners) {
  const auto alone = train_ppo(options, type, updates, nullptr, 0, 1);
  std::vector<Outcome> together(static_cast<size_t>(learners));
  as_learners(learners, [&](int place, std::shared_ptr<LearnerGroup> group) {
    const auto at = static_cast<size_t>(place);
    together[at] = train_ppo(options, type, updates, std::move(group), at, static_cast<size_t>(learners));
  });
  for (const auto& outcome : together) {
    EXPECT_EQ(distance(outcome.parameters, together[0].parameters), 0);  // bit for bit
    EXPECT_EQ(outcome.stats.transitions, alone.stats.transitions);
    EXPECT_EQ(outcome.stats.minibatches, alone.stats.minibatches);
    EXPECT_EQ(outcome.stats.early_stop, alone.stats.early_stop);
    EXPECT_NEAR(outcome.stats.policy_loss, alone.stats.policy_loss, type == torch::kFloat64 ? 1e-6 : 1e-2);
    EXPECT_NEAR(outcome.stats.explained_variance, alone.stats.explained_variance, 1e-9);
  }
  return distance(together[0].parameters, alone.parameters);
}

TEST(Learners, TwoEqualOneInDouble) {
  EXPECT_LT(compare_ppo({.epochs = 3, .minibatch = 16, .target_kl = 0}, torch::kFloat64, 2, 2), 1e-6);
}

TEST(Learners, TheWholeBatchAtOnce) {
  EXPECT_LT(compare_ppo({.epochs = 4, .minibatch = 1000}, torch::kFloat64, 2, 2), 1e-6);
}

TEST(Learners, TwentyUpdatesInFloat) {
  EXPECT_LT(compare_ppo({.learning_rate = 1e-3, .epochs = 2, .minibatch = 32, .target_kl = 0}, torch::kFloat32, 20, 2),
            0.01);
}

TEST(Learners, OneOfThreeHasNoData) {
  EXPECT_LT(compare_ppo({.epochs = 2, .minibatch = 16, .target_kl = 0}, torch::kFloat64, 2, 3), 1e-6);
}

// Minibatches of one transition: always somebody has none.
TEST(Learners, EmptyMinibatches) {
  EXPECT_LT(compare_ppo({.epochs = 1, .minibatch = 1, .target_kl = 0}, torch::kFloat64, 1, 2), 1e-6);
}

TEST(Learners, StopTogetherAtTheTargetKl) {
  const PpoOptions options{.learning_rate = 0.02, .epochs = 50, .minibatch = 16, .target_kl = 0.01};
  EXPECT_LT(compare_ppo(options, torch::kFloat64, 1, 2), 1e-6);
}

TEST(Learners, NobodyHasData) {
  as_learners(2, [](int, std::shared_ptr<LearnerGroup> group) {
    PpoTrainer trainer(make_agent(torch::kFloat32).ptr(), {});
    trainer.set_group(std::move(group));
    Rng shuffle({1});
    EXPECT_EQ(trainer.update({}, shuffle).transitions, 0);
  });
}

TEST(Learners, AnErrorOfOneEndsAll) {
  const auto work = [](int place, std::shared_ptr<LearnerGroup> group) {
    PpoTrainer trainer(make_agent(torch::kFloat32).ptr(), {});
    trainer.set_group(std::move(group));
    auto data = play(40, 1);
    if (place == 1) data[0].steps[0].action = {2, 0};  // not legal
    Rng shuffle({1});
    trainer.update(data, shuffle);
  };
  EXPECT_THROW(as_learners(2, work, 20), Error);
}

WorldStats train_world(const nets::WorldModel& model, const WorldTrainerOptions& options, int updates,
                       std::shared_ptr<LearnerGroup> group, size_t place) {
  WorldTrainer trainer(model, options, 5);
  if (group) trainer.set_group(group);
  WorldStats stats;
  for (int u = 0; u < updates; ++u) {
    const auto all = play(80, static_cast<uint64_t>(u + 1));
    const auto parts = cut(all, 3);
    std::vector<const mdp::Trajectory*> own;
    for (const auto& t : group ? parts[place] : all) own.push_back(&t);
    Rng shuffle({9, static_cast<uint64_t>(u)});
    stats = trainer.update(own, 0.1, shuffle);
  }
  return stats;
}

nets::WorldModel make_world(torch::ScalarType type, int ensemble) {
  nets::WorldOptions o;
  o.encoder = {.rounds = 1, .width = 16};
  o.hidden = 16;
  o.mixtures = 2;
  o.ensemble = ensemble;
  nets::WorldModel model(HillToy().spec(), o, 3);
  model->to(type);
  return model;
}

double compare_world(const WorldTrainerOptions& options, torch::ScalarType type, int updates, int learners,
                     int ensemble) {
  const auto all_of = [](const nets::WorldModel& model) {
    std::vector<torch::Tensor> result;
    for (const auto& item : nets::named_tensors(*model)) result.push_back(item.second.detach().to(torch::kFloat64));
    return result;
  };
  const auto alone = make_world(type, ensemble);
  const auto expected = train_world(alone, options, updates, nullptr, 0);
  std::vector<nets::WorldModel> together;
  for (int i = 0; i < learners; ++i) together.push_back(make_world(type, ensemble));
  as_learners(learners, [&](int place, std::shared_ptr<LearnerGroup> group) {
    const auto at = static_cast<size_t>(place);
    const auto stats = train_world(together[at], options, updates, std::move(group), at);
    EXPECT_EQ(stats.minibatches, expected.minibatches);
    EXPECT_EQ(stats.steps, expected.steps);
    EXPECT_NEAR(stats.loss, expected.loss, type == torch::kFloat64 ? 1e-6 : 0.2);
    EXPECT_NEAR(stats.variance, expected.variance, 1e-6);
  });
  for (const auto& model : together) EXPECT_EQ(distance(all_of(model), all_of(together[0])), 0);
  return distance(all_of(together[0]), all_of(alone));
}

TEST(WorldLearners, TwoEqualOneInDouble) {
  EXPECT_LT(compare_world({.passes = 2, .batch = 4, .sequence = 3, .holdout = 0}, torch::kFloat64, 2, 2, 3), 1e-6);
}

TEST(WorldLearners, WithAnEncoderThatLearns) {
  EXPECT_LT(compare_world({.train_encoder = true, .passes = 1, .batch = 8, .sequence = 5, .holdout = 0},
                          torch::kFloat64, 2, 2, 1),
            1e-6);
}

TEST(WorldLearners, TwentyUpdatesInFloat) {
  EXPECT_LT(compare_world({.passes = 1, .batch = 8, .sequence = 64, .holdout = 0}, torch::kFloat32, 20, 2, 1), 0.05);
}

TEST(WorldLearners, OneOfThreeHasNoData) {
  EXPECT_LT(compare_world({.passes = 1, .batch = 4, .sequence = 64, .holdout = 0}, torch::kFloat64, 2, 3, 1), 1e-6);
}

TEST(LearnerGroup, ScattersAndGathers) {
  const auto data = play(40, 1);
  const auto places = balanced(data, 3);
  as_learners(3, [&](int place, std::shared_ptr<LearnerGroup> group) {
    const auto own = group->scatter(place == 0 ? data : Trajectories{}, place == 0 ? places : std::vector<int>{});
    EXPECT_EQ(static_cast<std::ptrdiff_t>(own.size()), std::count(places.begin(), places.end(), place));
    const std::vector<double> mine(static_cast<size_t>(place), place * 1.0);
    EXPECT_THAT(group->gather(mine).values, testing::ElementsAre(1, 2, 2));
    EXPECT_EQ(group->gather(mine).first, place == 2 ? 1u : 0u);
    EXPECT_EQ(group->max(-place), 0);
  });
}

TEST(LearnerGroup, BalancesSteps) {
  Trajectories data(5);
  for (size_t i = 0; i < 5; ++i) data[i].steps.resize(i + 1);  // 1 2 3 4 5
  EXPECT_THAT(balanced(data, 2), testing::ElementsAre(0, 0, 1, 1, 0));
  EXPECT_THAT(balanced(data, 2, [](const auto& t) { return t.steps.size() == 4; }),
              testing::ElementsAre(0, 1, 0, 0, 1));
  EXPECT_THAT(balanced(data, 1), testing::Each(0));
}

TEST(FusedAdam, IsAdam) {
  torch::manual_seed(1);
  const auto begin = torch::randn({7, 5});
  auto a = begin.clone().requires_grad_(true), b = begin.clone().requires_grad_(true);
  torch::optim::Adam plain({a}, torch::optim::AdamOptions(0.01).eps(1e-5)),
      fused({b}, torch::optim::AdamOptions(0.01).eps(1e-5));
  for (int i = 0; i < 20; ++i) {
    a.mutable_grad() = (a.detach() - i).sin();
    b.mutable_grad() = (b.detach() - i).sin();
    plain.step();
    fused_step(fused);
  }
  EXPECT_LT((a - b).abs().max().item<float>(), 1e-5);
  EXPECT_GT((a - begin).abs().max().item<float>(), 0.005);
}

}  // namespace
}  // namespace rlgo::learner

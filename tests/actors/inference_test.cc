#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "actors/collector.h"
#include "actors/inference_server.h"
#include "actors/network_policy.h"
#include "actors/remote_policy.h"
#include "core/base/error.h"
#include "core/nets/actor_critic.h"
#include "core/nets/weights.h"
#include "tests/support/toy_env.h"

namespace rlgo::actors {
namespace {

using comm::Tag;
using testing::ElementsAre;
using testing::HasSubstr;

nets::Agent network(nets::Block block, uint64_t seed = 1) {
  nets::AgentOptions options;
  options.rounds = 2;
  options.width = 8;
  options.block = block;
  return nets::ActorCritic(test::MaskedToy().spec(), options, seed).ptr();
}

class Keep : public Sink {
 public:
  void on_trajectory(mdp::Trajectory trajectory) override { trajectories.push_back(std::move(trajectory)); }
  void on_lost(const LostEpisode& lost) override { ADD_FAILURE() << lost.what; }
  std::vector<mdp::Trajectory> trajectories;
};

// Six episodes of three environments, as a rank of that number plays them.
std::vector<mdp::Trajectory> play(Policy& policy, int rank = 1) {
  std::vector<std::unique_ptr<mdp::Env>> envs;
  for (int i = 0; i < 3; ++i) envs.push_back(std::make_unique<test::MaskedToy>(8));
  const auto batch = mdp::make_batch(std::move(envs));
  Keep keep;
  Collector collector(*batch, policy, keep, {.seed = 5, .rank = rank});
  while (collector.round([&] { return collector.next_episode() < 6; }) > 0) {
  }
  std::ranges::sort(keep.trajectories, {}, &mdp::Trajectory::episode);
  return std::move(keep.trajectories);
}

// Rank 1 asks rank 2, which has its turns while rank 1 waits.
struct Node {
  explicit Node(nets::Block block = nets::Block::local, InferenceOptions how = {})
      : options(how), decider(network(block), 0), own(network(block), 0) {
    remote.emplace(one, 2, own, options,
                   RemoteHooks{[this] { serve(answers); }, [this](const auto& text) { logged.push_back(text); }});
  }
  void serve(bool awake = true) {
    if (!awake) return;
    while (const auto message = two.take(Tag::ask)) server->take(*message);
    server->turn();
  }
  // A decision on one observation.
  Decision decide() {
    auto observation = test::MaskedToy().reset(++key);
    const mdp::Observation* pointer = &observation;
    const double uniforms[] = {0.25, 0.75};
    return remote->decide({&pointer, 1}, uniforms).at(0);
  }

  InferenceOptions options;
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(4);
  comm::Mailbox one{*comms[1]}, two{*comms[2]}, three{*comms[3]};
  NetworkPolicy decider, own;
  std::optional<InferenceServer> server{std::in_place, two, decider, test::MaskedToy().spec(), options};
  std::optional<RemotePolicy> remote;
  bool answers = true;
  uint64_t key = 0;
  std::vector<std::string> logged;
};

void expect_same(const std::vector<mdp::Trajectory>& a, const std::vector<mdp::Trajectory>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].steps.size(), b[i].steps.size());
    EXPECT_NEAR(a[i].last_value_rule, b[i].last_value_rule, 1e-5);
    for (size_t k = 0; k < a[i].steps.size(); ++k) {
      const auto &x = a[i].steps[k], &y = b[i].steps[k];
      EXPECT_EQ(x.action, y.action);
      EXPECT_EQ(x.observation, y.observation);
      EXPECT_NEAR(x.log_prob_rule, y.log_prob_rule, 1e-5);
      EXPECT_NEAR(x.log_prob_location, y.log_prob_location, 1e-5);
      EXPECT_NEAR(x.value_rule, y.value_rule, 1e-5);
      EXPECT_NEAR(x.value_location, y.value_location, 1e-5);
    }
  }
}

class EachBlock : public testing::TestWithParam<nets::Block> {};
INSTANTIATE_TEST_SUITE_P(Blocks, EachBlock, testing::Values(nets::Block::local, nets::Block::full));

TEST_P(EachBlock, DecidesAsTheActorWould) {
  Node node(GetParam());
  NetworkPolicy alone(network(GetParam()), 0);
  expect_same(play(*node.remote), play(alone));
  EXPECT_EQ(node.remote->counts().fallback, 0);
  EXPECT_EQ(node.server->counts().refused, 0);
  EXPECT_EQ(node.server->counts().answered, node.remote->counts().decided);
  EXPECT_GT(node.server->counts().answered, node.server->counts().batches);
  EXPECT_THAT(node.logged, testing::IsEmpty());
}

// A question as another actor would send it.
Question question(uint64_t number, int64_t version = 0) {
  auto observation = test::MaskedToy().reset(number);
  const mdp::Observation* pointer = &observation;
  return {.number = number,
          .version = version,
          .count = 1,
          .uniforms = {0.25, 0.75},
          .observations = code_observations({&pointer, 1}, {})};
}

Answer answer_to(comm::Mailbox& box) {
  const auto message = box.take(Tag::decided);
  if (!message) fail("no answer");
  return decode_answer(message->payload);
}

TEST(InferenceServer, AnswersManyActorsAtOnce) {
  Node node;
  node.one.send(2, Tag::ask, encode(question(1)));
  node.three.send(2, Tag::ask, encode(question(9)));
  node.serve();
  EXPECT_EQ(node.server->counts(), (comm::InferenceCounts{.answered = 2, .batches = 1}));
  EXPECT_EQ(answer_to(node.one).number, 1u);
  const auto other = answer_to(node.three);
  const auto observation = test::MaskedToy().reset(9);
  const mdp::Observation* pointer = &observation;
  const double uniforms[] = {0.25, 0.75};
  EXPECT_EQ(other.decisions.at(0).action, node.own.decide({&pointer, 1}, uniforms)[0].action);
}

TEST(InferenceServer, KeepsToItsBatch) {
  Node node(nets::Block::local, {.batch = 1});
  node.one.send(2, Tag::ask, encode(question(1)));
  node.three.send(2, Tag::ask, encode(question(1)));
  node.serve();
  EXPECT_EQ(node.server->counts().answered, 1);
  node.serve();
  EXPECT_EQ(node.server->counts().batches, 2);
}

TEST(InferenceServer, WaitsForTheOthersWhereItIsAskedTo) {
  Node node(nets::Block::local, {.wait_us = 3e5});
  for (auto* box : {&node.one, &node.three}) box->send(2, Tag::ask, encode(question(1)));
  node.serve();  // both are known, and both have asked
  EXPECT_EQ(node.server->counts().batches, 1);
  node.one.send(2, Tag::ask, encode(question(2)));
  node.serve();  // waits for 0.3 s
  EXPECT_EQ(node.server->counts().batches, 1);
  node.serve();
  EXPECT_EQ(node.server->counts().batches, 2);
}

TEST(InferenceServer, AQuestionWaitsForItsWeights) {
  Node node;
  node.one.send(2, Tag::ask, encode(question(1, 5)));
  node.serve();
  EXPECT_FALSE(node.one.take(Tag::decided));
  node.decider.load(nets::pack(*network(nets::Block::local, 2)), 6);
  node.serve();
  EXPECT_EQ(answer_to(node.one).version, 6);
}

TEST(InferenceServer, RefusesWhatItCannotRead) {
  Node node;
  auto damaged = question(4);
  damaged.observations[0] ^= 0x55;
  auto unknown = question(5);
  unknown.base = 3;
  auto impossible = question(6);
  impossible.uniforms[0] = 1;
  for (const auto& bytes : {encode(damaged), encode(unknown), encode(impossible), std::string("?")})
    node.one.send(2, Tag::ask, bytes);
  node.serve();
  EXPECT_EQ(node.server->counts().refused, 4);
  std::vector<uint64_t> numbers;
  for (int i = 0; i < 4; ++i) {
    const auto answer = answer_to(node.one);
    numbers.push_back(answer.number);
    EXPECT_NE(answer.refused, "");
  }
  EXPECT_THAT(numbers, ElementsAre(4, 5, 0, 0));
}

TEST(InferenceServer, RefusesWhereItsPolicyFails) {
  struct Broken : DrawnPolicy {
    std::vector<Decision> decide(std::span<const mdp::Observation* const>, std::span<const double>) override {
      throw std::runtime_error("out of memory");
    }
    std::vector<float> value(std::span<const mdp::Observation* const>) override { return {}; }
    int64_t version() const override { return 0; }
    void load(std::string_view, int64_t) override {}
  } broken;
  Node node;
  InferenceServer server(node.two, broken, test::MaskedToy().spec(), {});
  node.one.send(2, Tag::ask, encode(question(1)));
  server.take(*node.two.take(Tag::ask));
  EXPECT_TRUE(server.turn());
  EXPECT_EQ(answer_to(node.one).refused, "out of memory");
  EXPECT_EQ(server.counts().refused, 1);
}

TEST(RemotePolicy, ReportsWhichWeightsDecided) {
  Node node;
  node.decider.load(nets::pack(*network(nets::Block::local, 2)), 6);
  node.remote->load(nets::pack(*network(nets::Block::local, 3)), 5);
  EXPECT_EQ(node.remote->version(), 5);
  const auto played = play(*node.remote);
  EXPECT_EQ(node.remote->version(), 6);
  for (const auto& t : played) EXPECT_EQ(t.weights_version, 6);
  NetworkPolicy alone(network(nets::Block::local, 2), 6);
  expect_same(played, play(alone));
}

// The oldest that acted, where they change within an episode.
TEST(RemotePolicy, AnEpisodeHasItsOldestWeights) {
  Node node;
  int asked = 0;
  RemotePolicy policy(node.one, 2, node.own, {},
                      {[&] {
                         if (++asked == 3) node.decider.load(nets::pack(*network(nets::Block::local)), 4);
                         node.serve();
                       },
                       [](const auto&) {}});
  const auto played = play(policy);
  EXPECT_EQ(played.front().weights_version, 0);
  EXPECT_EQ(played.back().weights_version, 4);
}

TEST(RemotePolicy, DecidesItselfWhileTheOtherIsSilent) {
  Node node(nets::Block::local, {.timeout_s = 0.02});
  node.answers = false;
  node.remote->load(nets::pack(*network(nets::Block::local, 2)), 3);
  NetworkPolicy alone(network(nets::Block::local, 2), 3);
  const auto played = play(*node.remote);
  expect_same(played, play(alone));
  for (const auto& t : played) EXPECT_EQ(t.weights_version, 3);
  EXPECT_GT(node.remote->counts().fallback, 20);
  EXPECT_THAT(node.logged, ElementsAre(HasSubstr("rank 2 has not answered for 0.02 s")));
  node.two.poll();
  EXPECT_EQ(node.two.counters().received(Tag::ask).messages, 1u) << "it is asked no more";
}

TEST(RemotePolicy, AsksAgainOnceThereIsAnAnswer) {
  Node node(nets::Block::local, {.timeout_s = 0.02});
  node.answers = false;
  node.decide();
  node.serve();  // late
  node.answers = true;
  node.decide();
  EXPECT_EQ(node.remote->counts().fallback, 1);
  EXPECT_EQ(node.server->counts().answered, 2);
  EXPECT_THAT(node.logged, ElementsAre(HasSubstr("has not answered"), HasSubstr("answers again")));
}

TEST(RemotePolicy, DoesNotWaitForOneThatHasLeft) {
  Node node(nets::Block::local, {.timeout_s = 1000});
  node.decide();
  node.answers = false;
  node.server->leave();
  node.decide();
  node.decide();
  EXPECT_EQ(node.remote->counts().fallback, 2);
  EXPECT_THAT(node.logged, testing::IsEmpty());
}

TEST(RemotePolicy, DecidesItselfWhereItIsRefused) {
  Node node;
  node.decide();
  node.server.emplace(node.two, node.decider, test::MaskedToy().spec(), InferenceOptions());  // knows no base
  node.decide();
  EXPECT_EQ(node.remote->counts().fallback, 1);
  EXPECT_EQ(node.server->counts().refused, 1);
  EXPECT_THAT(node.logged, ElementsAre(HasSubstr("question 1, which is not known here")));
}

// Decisions that no environment would take, or of older weights, are not used.
TEST(RemotePolicy, ChecksWhatItReceives) {
  Node node;
  node.remote->load(nets::pack(*network(nets::Block::local)), 4);
  Answer wrong{.version = 4, .decisions = {Decision{.action = {3, 77}}}};
  RemotePolicy policy(node.one, 2, node.own, {},
                      {[&] {
                         if (!node.two.take(Tag::ask)) return;
                         ++wrong.number;
                         node.two.send(1, Tag::decided, encode(wrong));
                       },
                       [&](const auto& text) { node.logged.push_back(text); }});
  policy.load(nets::pack(*network(nets::Block::local)), 4);
  auto observation = test::MaskedToy().reset(1);
  const mdp::Observation* pointer = &observation;
  const double uniforms[] = {0.25, 0.75};
  policy.decide({&pointer, 1}, uniforms);
  EXPECT_EQ(policy.counts().fallback, 1);
  EXPECT_THAT(node.logged, ElementsAre(HasSubstr("rule 3, location 77")));
  wrong.decisions[0] = {.action = {7, 0}};
  policy.decide({&pointer, 1}, uniforms);
  EXPECT_EQ(policy.counts().fallback, 1);
  wrong.version = 3;
  policy.decide({&pointer, 1}, uniforms);
  EXPECT_EQ(policy.counts().fallback, 2);
  EXPECT_EQ(policy.version(), 4);
}

TEST(InferenceRanks, OneForEachNodeThatHasTwoActors) {
  const int nodes[] = {0, 0, 0, 7, 7, 9};
  const auto ranks = choose_inference_ranks(nodes, 1);
  EXPECT_THAT(ranks, ElementsAre(0, 2, 2, 4, 4, 0));
  EXPECT_EQ(describe_inference(ranks, 1),
            "inference: alone on its node decides for itself: 5; rank 2 decides for 1; rank 4 decides for 3");
  EXPECT_THAT(describe_inference({}, 1), HasSubstr("each actor decides for itself"));
}

}  // namespace
}  // namespace rlgo::actors

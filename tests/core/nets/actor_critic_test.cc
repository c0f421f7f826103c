#include "core/nets/actor_critic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/nets/weights.h"
#include "tests/core/nets/_random_graphs.h"

namespace rlgo::nets {
namespace {

using test::pointers;
using test::random_observation;
using test::random_spec;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Heads {
  LocationHead location = LocationHead::pointer;
  PolicyHead policy = PolicyHead::joint;
};
AgentOptions options_of(Heads heads) {
  return {.rounds = 2, .width = 16, .location_head = heads.location, .head = heads.policy};
}
ActorCritic make(Heads heads = {}, uint64_t seed = 1) { return ActorCritic(random_spec(), options_of(heads), seed); }
std::vector<mdp::Observation> graphs(int count, uint64_t seed) {
  Rng rng({seed});
  std::vector<mdp::Observation> result;
  for (int i = 0; i < count; ++i) result.push_back(random_observation(random_spec(), 4 + i % 7, rng));
  return result;
}
std::vector<double> uniforms(size_t count, uint64_t seed) {
  Rng rng({seed});
  std::vector<double> result(count);
  for (auto& u : result) u = rng.uniform();
  return result;
}
// Heads that differ clearly from uniform.
void shake(ActorCritic& agent) {
  torch::NoGradGuard no_grad;
  Rng rng({77});
  for (auto& p : agent->parameters()) p.add_(normal_init(p.sizes(), 0.15, rng));
}

class BothHeads : public ::testing::TestWithParam<Heads> {};
INSTANTIATE_TEST_SUITE_P(
    Heads, BothHeads,
    ::testing::Values(Heads{}, Heads{.location = LocationHead::index}, Heads{.policy = PolicyHead::staged},
                      Heads{LocationHead::index, PolicyHead::staged}, Heads{.policy = PolicyHead::flat}),
    [](const auto& test) {
      return std::string(name_of(test.param.policy, kPolicyHeads)) + "_" + name_of(test.param.location, kLocationHeads);
    });

// Every legal action of a graph is evaluated on its own: probabilities sum to 1, and -sum p log p is the joint entropy.
TEST_P(BothHeads, ProbabilitiesAndEntropyAgreeWithEnumeration) {
  auto agent = make(GetParam());
  shake(agent);
  for (const auto& o : graphs(12, 5)) {
    std::vector<mdp::Action> actions = {{5, 0}};
    for (int32_t x = 0; x < 5; ++x) {
      for (int32_t l = 0; l < o.counts[static_cast<size_t>(x)]; ++l) actions.push_back({x, l});
    }
    const std::vector<const mdp::Observation*> copies(actions.size(), &o);
    const auto all = agent->evaluate(collate(copies, random_spec()), actions);
    const auto log_p = all.log_prob().detach().to(torch::kFloat64);
    EXPECT_NEAR(log_p.exp().sum().item<double>(), 1.0, 1e-5);
    EXPECT_NEAR(-(log_p.exp() * log_p).sum().item<double>(), all.entropy()[0].item<double>(), 1e-4);
  }
}

TEST_P(BothHeads, TenThousandSampledActionsAreLegal) {
  auto agent = make(GetParam());
  shake(agent);
  const auto many = graphs(100, 6);
  const auto batch = collate(pointers(many), random_spec());
  int64_t stops = 0;
  for (uint64_t round = 0; round < 100; ++round) {
    const auto decisions = agent->act(batch, uniforms(200, round));
    for (size_t b = 0; b < many.size(); ++b) {
      const auto [x, location] = decisions.actions[b];
      const int32_t count = x == 5 ? 1 : many[b].counts[static_cast<size_t>(x)];
      ASSERT_TRUE(location >= 0 && location < count) << x << " " << location;
      stops += x == 5;
    }
  }
  EXPECT_GT(stops, 100);   // NO-OP is among them,
  EXPECT_LT(stops, 9900);  // and so are others
}

TEST_P(BothHeads, ActAndEvaluateAgree) {
  auto agent = make(GetParam());
  shake(agent);
  const auto batch = collate(pointers(graphs(20, 7)), random_spec());
  const auto d = agent->act(batch, uniforms(40, 1));
  const auto e = agent->evaluate(batch, d.actions);
  for (int64_t b = 0; b < 20; ++b) {
    const auto i = static_cast<size_t>(b);
    EXPECT_FLOAT_EQ(e.log_prob_rule[b].item<float>(), d.log_prob_rule[i]);
    EXPECT_FLOAT_EQ(e.log_prob_location[b].item<float>(), d.log_prob_location[i]);
    EXPECT_FLOAT_EQ(e.value_rule[b].item<float>(), d.value_rule[i]);
    EXPECT_FLOAT_EQ(e.value_location[b].item<float>(), d.value_location[i]);
    EXPECT_FLOAT_EQ(e.entropy()[b].item<float>(), d.entropy[i]);
  }
}

TEST_P(BothHeads, GradientsReachEveryParameter) {
  auto spec = random_spec();
  spec.location_features = 2;
  ActorCritic agent(spec, options_of(GetParam()), 1);
  shake(agent);
  auto many = graphs(20, 8);
  for (auto& o : many) {
    for (size_t l = 0; l < o.loc_node.size(); ++l) {
      o.loc_feat.insert(o.loc_feat.end(), {0.1f * static_cast<float>(l % 5) - 0.2f, 0.0f});
      o.loc_rest.push_back(0);
      o.loc_rest_end.push_back(static_cast<int32_t>(l) + 1);
    }
  }
  const auto batch = collate(pointers(many), spec);
  const auto e = agent->evaluate(batch, agent->act(batch, uniforms(40, 2)).actions);
  (e.log_prob() + e.entropy() + e.value_rule + e.value_location).sum().backward();
  for (const auto& item : agent->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
    EXPECT_GT(item.value().grad().abs().sum().item<float>(), 0.0f) << item.key();
  }
}

// Frequencies of 20000 draws follow the probabilities (chi-square with few cells; bound far beyond chance).
TEST(Act, SamplesFollowTheProbabilities) {
  auto agent = make();
  shake(agent);
  const auto o = graphs(4, 9)[3];
  const std::vector<const mdp::Observation*> copies(1000, &o);
  const auto batch = collate(copies, random_spec());
  std::map<std::pair<int, int>, double> seen, expected;
  for (uint64_t round = 0; round < 20; ++round) {
    const auto d = agent->act(batch, uniforms(2000, 100 + round));
    for (size_t i = 0; i < 1000; ++i) {
      const std::pair<int, int> action{d.actions[i].rule, d.actions[i].location};
      seen[action] += 1;
      expected[action] = 20000 * std::exp(static_cast<double>(d.log_prob_rule[i] + d.log_prob_location[i]));
    }
  }
  EXPECT_GT(seen.size(), 3u);
  for (const auto& [action, count] : seen) EXPECT_NEAR(count, expected[action], 6 * std::sqrt(expected[action]) + 6);
}

TEST(Act, AnEpisodeDoesNotDependOnTheBatch) {
  auto agent = make();
  const auto many = graphs(10, 10);
  const auto u = uniforms(20, 3);
  const auto together = agent->act(collate(pointers(many), random_spec()), u);
  for (size_t b = 0; b < many.size(); ++b) {
    const auto alone = agent->act(collate(many[b], random_spec()), std::span(u).subspan(2 * b, 2));
    EXPECT_EQ(alone.actions[0], together.actions[b]);
    EXPECT_NEAR(alone.log_prob_rule[0], together.log_prob_rule[b], 1e-5);
  }
}

TEST(Act, GreedyTakesTheMostProbableAction) {
  auto agent = make();
  shake(agent);
  const auto many = graphs(10, 11);
  const auto batch = collate(pointers(many), random_spec());
  const auto greedy = agent->act(batch, {}, true);
  const auto policy = agent->policy(batch, agent->encode(batch));
  for (int64_t b = 0; b < 10; ++b) {
    const auto row = static_cast<size_t>(b);
    float highest = policy.rule[b][5].item<float>();
    for (int64_t x = 0; x < 5; ++x) {
      const auto begin = batch.loc_offset[row * 5 + static_cast<size_t>(x)];
      const auto end = batch.loc_offset[row * 5 + static_cast<size_t>(x) + 1];
      if (end > begin)
        highest = std::max(highest, (policy.rule[b][x] + policy.location.slice(0, begin, end).max()).item<float>());
    }
    EXPECT_NEAR(greedy.log_prob_rule[row] + greedy.log_prob_location[row], highest, 1e-4);
  }
  EXPECT_THAT([&] { agent->act(batch, uniforms(19, 1)); },
              ThrowsMessage<Error>(HasSubstr("19 random numbers for 10 graphs")));
}

TEST(Act, OnlyNoOpIsLegalWhereNothingApplies) {
  auto agent = make();
  auto o = graphs(1, 12)[0];
  o.counts.assign(5, 0);
  o.loc_node.clear();
  const auto batch = collate(o, random_spec());
  const auto d = agent->act(batch, uniforms(2, 4));
  EXPECT_EQ(d.actions[0], (mdp::Action{5, 0}));
  EXPECT_EQ(d.log_prob_rule[0], 0.0f);
  EXPECT_EQ(d.entropy[0], 0.0f);
  const auto e = agent->evaluate(batch, d.actions);
  (e.log_prob() + e.entropy() + e.value_rule).sum().backward();
  for (const auto& p : agent->parameters()) {
    EXPECT_TRUE(!p.grad().defined() || p.grad().isfinite().all().item<bool>());
  }
}

TEST(Act, DamagedWeightsAreAnError) {
  auto agent = make();
  const auto batch = collate(graphs(1, 12)[0], random_spec());
  torch::NoGradGuard no_grad;
  agent->parameters()[0].fill_(std::nan(""));
  EXPECT_THAT([&] { agent->act(batch, uniforms(2, 1)); }, ThrowsMessage<Error>(HasSubstr("the weights are damaged")));
}

TEST(Evaluate, IllegalActionsAreErrors) {
  auto agent = make();
  auto o = graphs(1, 13)[0];
  o.counts = {2, 0, 0, 0, 0};
  o.loc_node = {0, 1};
  const auto batch = collate(o, random_spec());
  for (const mdp::Action bad : {mdp::Action{0, 2}, {0, -1}, {1, 0}, {5, 1}, {6, 0}, {-1, 0}}) {
    EXPECT_THAT([&] { agent->evaluate(batch, std::span(&bad, 1)); }, ThrowsMessage<Error>(HasSubstr("not legal")));
  }
}

// What is known of locations: a percent saved counts beta, NO-OP counts nothing.
TEST(ActorCritic, UntrainedItIsAHeatBathOverAllLocations) {
  auto spec = random_spec();
  spec.location_features = 2;
  auto o = graphs(1, 13)[0];
  o.counts = {2, 0, 1, 0, 0};
  o.loc_node = {0, 1, 2};
  o.loc_feat = {-0.5f, 0, 0, 0, 0.25f, 0};
  o.loc_rest_end = {1, 1, 3};
  o.loc_rest = {1, 0, 3};
  ActorCritic agent(spec, AgentOptions{.rounds = 2, .width = 16, .beta = 4}, 1);
  const auto batch = collate(o, spec);
  const auto policy = agent->policy(batch, agent->encode(batch));
  const double total = std::exp(2.0) + 1 + std::exp(-1.0) + 1;
  EXPECT_NEAR(policy.rule[0][0].exp().item<float>(), (std::exp(2.0) + 1) / total, 1e-6);
  EXPECT_NEAR(policy.rule[0][2].exp().item<float>(), std::exp(-1.0) / total, 1e-6);
  EXPECT_NEAR(policy.rule[0][5].exp().item<float>(), 1 / total, 1e-6);
  EXPECT_NEAR(policy.location[0].exp().item<float>(), std::exp(2.0) / (std::exp(2.0) + 1), 1e-6);
  EXPECT_EQ(agent->act(batch, {}, true).actions[0], (mdp::Action{0, 0}));
}

// A rule by the most that it saves, then a location by what that saves. Greedy is greedy search.
TEST(ActorCritic, UntrainedStagedHeadIsAHeatBathPerStage) {
  auto spec = random_spec();
  spec.location_features = 2;
  auto o = graphs(1, 13)[0];
  o.counts = {2, 0, 1, 0, 0};
  o.loc_node = {0, 1, 2};
  o.loc_feat = {0, 0, -0.5f, 0, -0.25f, 0};
  ActorCritic agent(spec, AgentOptions{.rounds = 2, .width = 16, .head = PolicyHead::staged, .beta = 4}, 1);
  const auto batch = collate(o, spec);
  const auto policy = agent->policy(batch, agent->encode(batch));
  const double total = std::exp(2.0) + std::exp(1.0) + 1;
  EXPECT_NEAR(policy.rule[0][0].exp().item<float>(), std::exp(2.0) / total, 1e-6);
  EXPECT_NEAR(policy.rule[0][2].exp().item<float>(), std::exp(1.0) / total, 1e-6);
  EXPECT_NEAR(policy.location[1].exp().item<float>(), std::exp(2.0) / (std::exp(2.0) + 1), 1e-6);
  EXPECT_EQ(agent->act(batch, {}, true).actions[0], (mdp::Action{0, 1}));
}

// Nothing is gained: NO-OP, although locations of one rule are as good and together more probable.
TEST(ActorCritic, AmongEqualsGreedyStops) {
  auto spec = random_spec();
  spec.location_features = 2;
  auto o = graphs(1, 13)[0];
  o.counts = {3, 0, 0, 0, 0};
  o.loc_node = {0, 1, 2};
  o.loc_feat = {0, 0, 0, 1, 0.1f, 0};
  ActorCritic agent(spec, AgentOptions{.rounds = 1, .width = 16}, 1);
  EXPECT_EQ(agent->act(collate(o, spec), {}, true).actions[0], (mdp::Action{5, 0}));
}

// Matches with the same root are distinguished by their other nodes.
TEST(ActorCritic, SeesAllMatchedNodes) {
  auto spec = random_spec();
  auto o = graphs(1, 14)[0];
  o.counts = {2, 0, 0, 0, 0};
  o.loc_node = {0, 0};
  ActorCritic agent(spec, AgentOptions{.rounds = 2, .width = 16}, 1);
  shake(agent);
  const auto scores = [&] {
    const auto batch = collate(o, spec);
    return agent->policy(batch, agent->encode(batch)).score;
  };
  const auto alike = scores();
  o.loc_rest_end = {1, 2};
  o.loc_rest = {1, 2};
  const auto distinguished = scores();
  EXPECT_GT(((alike[0] - alike[1]) - (distinguished[0] - distinguished[1])).abs().item<float>(), 0.01);
}

TEST(AgentOptions, ContradictionsNameThePair) {
  EXPECT_THAT(
      [] {
        check(options_of({LocationHead::index, PolicyHead::flat}));
      },
      ThrowsMessage<Error>(HasSubstr("--policy.head flat with --policy.location-head index")));
  EXPECT_THAT([] { check(AgentOptions{.width = 10, .block = Block::gat}); },
              ThrowsMessage<Error>(HasSubstr("--gnn.block gat with --gnn.width 10")));
}

TEST(ActorCritic, InitialWeightsDependOnTheSeedAlone) {
  torch::manual_seed(1);
  const auto a = pack(*make({}, 3));
  torch::manual_seed(2);
  EXPECT_EQ(pack(*make({}, 3)), a);
  EXPECT_NE(pack(*make({}, 4)), a);
}

TEST(ActorCritic, NoOpBiasShortensOrLengthensEpisodes) {
  ActorCritic shy(random_spec(), AgentOptions{.rounds = 1, .width = 16, .noop_bias = -5.0}, 1);
  const auto batch = collate(graphs(1, 20)[0], random_spec());
  const auto policy = shy->policy(batch, shy->encode(batch));
  EXPECT_LT(policy.rule[0][5].item<float>(), -3.0f);
}

TEST(ActorCritic, RescalingLeavesValuesAsTheyAre) {
  auto agent = make();
  const auto batch = collate(pointers(graphs(5, 14)), random_spec());
  const std::vector<mdp::Action> stop(5, {5, 0});
  const auto before = agent->evaluate(batch, stop);
  agent->rescale_values(30.0, 4.0);
  const auto after = agent->evaluate(batch, stop);
  EXPECT_TRUE(torch::allclose(before.value_rule, after.value_rule, 1e-4, 1e-4));
  EXPECT_TRUE(torch::allclose(before.value_location, after.value_location, 1e-4, 1e-4));
  EXPECT_EQ(agent->value_scale(), 4.0);
  EXPECT_THROW(agent->rescale_values(0, 0), Error);
}

TEST(ActorCritic, OptionsOutOfBoundsAreErrors) {
  EXPECT_THAT([] { ActorCritic(random_spec(), AgentOptions{.width = 2}, 1); },
              ThrowsMessage<Error>(HasSubstr("gnn.width")));
}

TEST(Weights, TravelAsBytes) {
  auto a = make({}, 1), b = make({}, 2);
  a->rescale_values(3, 2);
  const auto bytes = pack(*a);
  unpack(*b, bytes);
  EXPECT_EQ(pack(*b), bytes);
  EXPECT_EQ(b->value_shift(), 3.0);
  EXPECT_TRUE(b->parameters()[0].requires_grad());
}

TEST(Weights, DamagedOrForeignBytesAreErrors) {
  auto a = make(), other = make({.location = LocationHead::index});
  const auto before = pack(*a);
  auto bytes = before;
  EXPECT_THAT([&] { unpack(*other, bytes); }, ThrowsMessage<Error>(HasSubstr("another layout")));
  EXPECT_THROW(unpack(*a, std::string_view(bytes).substr(0, bytes.size() - 1)), Error);
  EXPECT_THROW(unpack(*a, ""), Error);
  bytes[0] = '?';
  EXPECT_THAT([&] { unpack(*a, bytes); }, ThrowsMessage<Error>(HasSubstr("not a weights message")));
  EXPECT_EQ(pack(*a), before);
}

TEST(Weights, NamedTensorsRoundTrip) {
  auto a = make({}, 1), b = make({}, 2);
  auto tensors = named_tensors(*a);
  load_named(*b, tensors);
  EXPECT_EQ(pack(*b), pack(*a));
  tensors[0].first = "x";
  EXPECT_THAT([&] { load_named(*b, tensors); }, ThrowsMessage<Error>(HasSubstr("is missing")));
}

}  // namespace
}  // namespace rlgo::nets

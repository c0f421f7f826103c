#include "core/env/rewrite_env.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/env/features.h"
#include "core/graph/editor.h"
#include "core/zoo/zoo.h"

namespace rlgo::env {
namespace {

// Two rules with known effects: one lowers the cost and the number of kernels, the other raises both.
constexpr const char* kRules = R"(
rule fuse-relu
  ?y = (relu (conv2d ?x ?w ?b... act=none ..?A))
  => ?y = (conv2d ?x ?w ?b... act=relu ..?A)

rule relu-to-abs-of-max
  ?y = (relu ?x)
  => ?y = (abs (max ?x {0}))
)";

std::shared_ptr<const rules::RuleSet> test_rules() { return rules::RuleSet::parse(kRules, "test.rules"); }

std::unique_ptr<RewriteEnv> make_env(EnvOptions options = {}, cost::WholeTimer timer = {}) {
  return std::make_unique<RewriteEnv>(zoo::make("toy_residual"), test_rules(), std::make_shared<cost::AnalyticCost>(),
                                      options, std::move(timer));
}

mdp::Action random_action(const mdp::Observation& o, Rng& rng) {
  std::vector<mdp::Action> legal{{static_cast<int32_t>(o.counts.size()), 0}};
  for (size_t x = 0; x < o.counts.size(); ++x) {
    for (int32_t l = 0; l < o.counts[x]; ++l) legal.push_back({static_cast<int32_t>(x), l});
  }
  return legal[rng.below(legal.size())];
}

TEST(RewriteEnv, ObservationFitsItsSpec) {
  auto env = make_env();
  const auto o = env->reset(0);
  mdp::check(o, env->spec());
  EXPECT_GT(o.counts[1], 0);
  EXPECT_EQ(env->spec().rule_names, (std::vector<std::string>{"fuse-relu", "relu-to-abs-of-max"}));
  EXPECT_EQ(node_feature_names().size(), static_cast<size_t>(kNodeFeatures));
  EXPECT_EQ(env->spec().node_features, kNodeFeatures);
  EXPECT_FLOAT_EQ(o.globals[0], 1.0f) << "the cost ratio starts at one";
}

TEST(RewriteEnv, StepRewardsTelescopeToTheRelativeSaving) {
  auto env = make_env();
  Rng rng({7});
  for (int episode = 0; episode < 5; ++episode) {
    auto o = env->reset(0);
    double total = 0;
    for (bool done = false; !done;) {
      const auto r = env->step(random_action(o, rng));
      mdp::check(r.observation, env->spec());
      total += r.reward;
      o = r.observation;
      done = r.terminal || r.truncated;
    }
    EXPECT_NEAR(total, 100.0 * (env->initial_cost_us() - env->current_cost_us()) / env->initial_cost_us(), 1e-3);
  }
}

TEST(RewriteEnv, FinalRewardComesAtTheEndOnly) {
  EnvOptions options;
  options.reward = Reward::final_only;
  options.max_steps = 2;
  auto env = make_env(options);
  env->reset(0);
  EXPECT_EQ(env->step({1, 0}).reward, 0.0f);
  const auto last = env->step({1, 0});
  EXPECT_TRUE(last.terminal) << "all is paid";
  EXPECT_NEAR(last.reward, 100.0 * (env->initial_cost_us() - env->current_cost_us()) / env->initial_cost_us(), 1e-3);
  EXPECT_LT(last.reward, 0.0f) << "two kernels cost more than one";
}

// All is paid at the cut: a value added to it would count the gain twice.
TEST(RewriteEnv, FinalRewardLeavesNothingToComeAtTheStepLimit) {
  for (const auto reward : {Reward::step, Reward::final_only}) {
    EnvOptions options;
    options.reward = reward;
    options.max_steps = 1;
    auto env = make_env(options);
    env->reset(0);
    const auto result = env->step({1, 0});
    EXPECT_EQ(result.terminal, reward == Reward::final_only);
    EXPECT_EQ(result.truncated, reward == Reward::step);
  }
}

TEST(RewriteEnv, DetailedRewardAddsWeightedParts) {
  EnvOptions options;
  options.reward = Reward::detailed;
  options.weight_flops = options.weight_bytes = options.weight_peak = 0;
  options.weight_launches = 2;
  auto detailed = make_env(options);
  auto plain = make_env();
  detailed->reset(0);
  plain->reset(0);
  const auto d = detailed->step({1, 0});
  const auto p = plain->step({1, 0});
  const double launches = cost::graph_cost(*std::make_unique<cost::AnalyticCost>(), zoo::make("toy_residual")).launches;
  EXPECT_NEAR(d.reward - p.reward, 100.0 * 2 * (launches - p.info.launches) / launches, 1e-3);
}

TEST(RewriteEnv, MeasuredRewardNeedsAndUsesTheTimer) {
  EnvOptions options;
  options.reward = Reward::measured;
  EXPECT_THROW(make_env(options), Error);
  const auto nodes = [](const graph::Graph& g, double) { return cost::WholeTiming{1, static_cast<double>(g.size())}; };
  auto env = make_env(options, nodes);
  env->reset(0);
  const double before = static_cast<double>(env->graph().size());
  const auto r = env->step({1, 0});
  EXPECT_NEAR(r.reward, 100.0 * (before - static_cast<double>(env->graph().size())), 1e-4);
  EXPECT_EQ(r.info.measured_us, static_cast<double>(env->graph().size()));
}

// Answers what it is told to, call by call; the first one is for the unmodified graph.
struct Script {
  std::vector<cost::WholeTiming> answers;
  std::vector<double> against = {};
  cost::WholeTiming operator()(const graph::Graph&, double level) {
    against.push_back(level);
    return answers.at(against.size() - 1);
  }
};

std::vector<mdp::StepResult> played(std::vector<cost::WholeTiming> answers, std::vector<double>& against) {
  EnvOptions options;
  options.reward = Reward::latency;
  const auto script = std::make_shared<Script>(Script{std::move(answers)});
  auto env = make_env(options, [script](const graph::Graph& g, double level) { return (*script)(g, level); });
  env->reset(0);
  std::vector<mdp::StepResult> out;
  while (script->against.size() < script->answers.size()) out.push_back(env->step({1, 0}));
  against = script->against;
  return out;
}

const cost::WholeTiming kDied{100, 1, 0, "the target died"};

TEST(RewriteEnv, LatencyPaysWhatIsShownAndKeepsItsError) {
  std::vector<double> against;
  const auto steps = played({{100, 1, 0}, {100, 0.9, 0.02}, {100, 0.95, 0.02}}, against);
  EXPECT_FLOAT_EQ(steps[0].reward, 10);
  EXPECT_EQ(steps[0].info.timing, mdp::WholeTimed::shown);
  EXPECT_EQ(steps[0].info.measured_us, 90);
  EXPECT_EQ(steps[0].info.measured_ratio, 0.9);
  EXPECT_EQ(steps[0].info.measured_error, 0.02);
  EXPECT_FLOAT_EQ(steps[1].reward, -5);  // 0.05 is more than the root of 2 x 0.02^2
  EXPECT_EQ(against, (std::vector<double>{1, 1, 0.9}));
}

// Two steps of 1 % with an error of 1.5 %: neither is shown, both together are.
TEST(RewriteEnv, LatencyWithinNoiseEarnsNothingUntilItAddsUp) {
  std::vector<double> against;
  const auto steps = played({{100, 1, 0}, {100, 0.99, 0.015}, {100, 0.98, 0.015}}, against);
  EXPECT_EQ(steps[0].reward, 0);
  EXPECT_EQ(steps[0].info.timing, mdp::WholeTimed::within_noise);
  EXPECT_FLOAT_EQ(steps[1].reward, 2);
  EXPECT_EQ(against, (std::vector<double>{1, 1, 1}));
}

TEST(RewriteEnv, AFailedTimingIsNeverAFastOne) {
  std::vector<double> against;
  const auto steps = played({{100, 1, 0}, kDied, {100, 0.9, 0.01}}, against);
  EXPECT_EQ(steps[0].reward, 0);
  EXPECT_EQ(steps[0].info.timing, mdp::WholeTimed::failed);
  EXPECT_EQ(steps[0].info.measured_us, 0);
  EXPECT_FLOAT_EQ(steps[1].reward, 10) << "the episode continued, and what it gained is paid";
}

TEST(RewriteEnv, LatencyNeedsTheUnmodifiedGraphTimed) {
  std::vector<double> against;
  EXPECT_THROW(played({kDied}, against), Error);
}

TEST(RewriteEnv, NoOpEndsTheEpisodeAndLeavesTheGraph) {
  auto env = make_env();
  env->reset(0);
  const uint64_t hash = env->graph().hash();
  const auto r = env->step({2, 0});
  EXPECT_TRUE(r.terminal);
  EXPECT_FALSE(r.truncated);
  EXPECT_EQ(r.reward, 0.0f);
  EXPECT_EQ(r.info.rule, "");
  EXPECT_EQ(env->graph().hash(), hash);
  EXPECT_TRUE(env->trace().empty());
  EXPECT_THROW(env->step({2, 0}), Error) << "the episode has ended";
}

TEST(RewriteEnv, IllegalActionsAreErrorsAndResetWorksAfterwards) {
  auto env = make_env();
  const auto o = env->reset(0);
  EXPECT_THROW(env->step({1, o.counts[1]}), Error);
  env->reset(0);
  EXPECT_THROW(env->step({-1, 0}), Error);
  env->reset(0);
  EXPECT_THROW(env->step({3, 0}), Error);
  EXPECT_EQ(env->reset(0), o);
}

// Tables of older checkpoints have 57 rows.
TEST(RewriteEnv, OperatorsThatOldAgentsDoNotKnowLookOpaque) {
  graph::Editor editor("g");
  const auto x = editor.add_input("x", {ops::DType::f32, {2, 3}});
  editor.add_output("y", editor.op(ops::Op::softplus, {x}));
  RewriteEnv env(*editor.finish(), test_rules(), std::make_shared<cost::AnalyticCost>(), {});
  const auto o = env.reset(0);
  EXPECT_EQ(env.spec().ops, 57);
  EXPECT_EQ(o.node_op.back(), static_cast<int32_t>(ops::Op::opaque));
}

TEST(RewriteEnv, LocationsAreCappedAndPointAtNodes) {
  EnvOptions options;
  options.max_locations = 1;
  auto env = make_env(options);
  const auto o = env->reset(0);
  EXPECT_EQ(o.counts[1], 1);
  EXPECT_THROW(env->step({1, 1}), Error);
  const auto all = make_env()->reset(0);
  ASSERT_GT(all.counts[1], 1);
  EXPECT_EQ(all.loc_node.size(), static_cast<size_t>(std::accumulate(all.counts.begin(), all.counts.end(), 0)));
  for (int32_t node : all.loc_node) EXPECT_EQ(all.node_op[node], static_cast<int32_t>(ops::Op::relu));
}

// What it states for each location is what happens there, and its nodes are all that the rule matches.
TEST(RewriteEnv, LocationsCarryTheirExactChangeOfCost) {
  auto env = make_env();
  Rng rng({13});
  auto o = env->reset(0);
  EXPECT_EQ(env->spec().location_features, 2);
  for (int i = 0; i < 30; ++i) {
    mdp::check(o, env->spec());
    const auto action = random_action(o, rng);
    if (action.rule == 2) continue;
    const auto at = static_cast<size_t>((action.rule == 0 ? 0 : o.counts[0]) + action.location);
    EXPECT_EQ(o.loc_rest_end[at] - (at == 0 ? 0 : o.loc_rest_end[at - 1]), action.rule == 0 ? 1 : 0);
    EXPECT_EQ(o.loc_feat[2 * at + 1], 0) << "no estimate";
    auto result = env->step(action);
    EXPECT_NEAR(o.loc_feat[2 * at], -result.reward, 1e-4);
    o = std::move(result.observation);
  }
  EXPECT_GE(env->trace().size(), 3u);
}

// Nor does an observation show them, nor are rewrites and rewards others.
TEST(RewriteEnv, HiddenPricesAreNotSeen) {
  EnvOptions options;
  options.prices_locations = false;
  auto env = make_env(options), priced = make_env();
  auto hidden = env->reset(0), shown = priced->reset(0);
  EXPECT_NE(env->spec().hash(), priced->spec().hash()) << "checkpoints and stores of the one are refused by the other";
  Rng rng({13});
  for (int i = 0; i < 10; ++i) {
    mdp::check(hidden, env->spec());
    EXPECT_TRUE(hidden.loc_feat.empty());
    shown.loc_feat.clear();
    EXPECT_EQ(hidden, shown);
    const auto action = random_action(hidden, rng);
    if (action.rule == 2) continue;
    auto next = env->step(action), wanted = priced->step(action);
    EXPECT_EQ(next.reward, wanted.reward);
    hidden = std::move(next.observation);
    shown = std::move(wanted.observation);
  }
}

// Behind the current graph stands, for each location, the graph that a step there leads to, and one node that reads it.
TEST(RewriteEnv, CandidatesAreTheGraphsOfTheNextStep) {
  EnvOptions options;
  options.candidates = true;
  auto env = make_env(options), plain = make_env();
  const auto seen = env->reset(0), graph = plain->reset(0);
  mdp::check(seen, env->spec());
  ASSERT_EQ(seen.loc_node.size(), graph.loc_node.size());
  auto begin = static_cast<std::ptrdiff_t>(graph.node_op.size());
  size_t l = 0;
  for (int32_t rule = 0; rule < 2; ++rule) {
    for (int32_t location = 0; location < graph.counts[static_cast<size_t>(rule)]; ++location, ++l) {
      plain->reset(0);
      const auto after = plain->step({rule, location}).observation;
      const auto end = static_cast<std::ptrdiff_t>(seen.loc_node[l]);
      EXPECT_EQ(std::vector(seen.node_op.begin() + begin, seen.node_op.begin() + end), after.node_op);
      EXPECT_EQ(seen.node_op[static_cast<size_t>(end)], env->spec().ops - 1);
      EXPECT_EQ(std::count(seen.edge_dst.begin(), seen.edge_dst.end(), end), end - begin);
      begin = end + 1;
    }
  }
  EXPECT_EQ(static_cast<size_t>(begin), seen.node_op.size());
}

TEST(RewriteEnv, EpisodesRepeatAndTracesReplay) {
  auto env = make_env();
  for (int run = 0; run < 2; ++run) {
    Rng rng({11});
    auto o = env->reset(run);
    for (int i = 0; i < 10; ++i) {
      auto action = random_action(o, rng);
      if (action.rule == 2) continue;
      o = env->step(action).observation;
    }
    static uint64_t first_hash = env->graph().hash();
    EXPECT_EQ(env->graph().hash(), first_hash);
    EXPECT_EQ(rules::replay(env->initial_graph(), test_rules(), env->trace()).hash(), env->graph().hash());
  }
  rules::Trace wrong{{1, 10000}};
  EXPECT_THROW(rules::replay(env->initial_graph(), test_rules(), wrong), Error);
}

TEST(RewriteEnv, CostsAreThoseOfTheGraphFromScratch) {
  auto env = make_env();
  cost::AnalyticCost model;
  Rng rng({12});
  auto o = env->reset(0);
  for (int i = 0; i < 20; ++i) {
    const auto action = random_action(o, rng);
    if (action.rule == 2) continue;
    auto result = env->step(action);
    const auto whole = cost::graph_cost(model, env->graph());
    EXPECT_EQ(result.info.peak_bytes, whole.peak_bytes);
    EXPECT_EQ(result.info.flops, whole.flops);
    EXPECT_EQ(env->current_cost_us(), result.info.cost_us);
    o = std::move(result.observation);
  }
}

TEST(RewriteEnv, ForkGoesOnByItself) {
  auto env = make_env();
  env->reset(0);
  env->step({1, 0});
  auto copy = env->fork();
  EXPECT_EQ(copy->trace(), env->trace());
  const auto reported = env->step({1, 0});
  EXPECT_EQ(copy->trace().size(), 1u);  // not what was done to the other
  const auto again = copy->step({1, 0});
  EXPECT_EQ(again.observation, reported.observation);
  EXPECT_EQ(copy->graph().hash(), env->graph().hash());
  EXPECT_EQ(copy->reset(0), env->reset(0));
}

}  // namespace
}  // namespace rlgo::env

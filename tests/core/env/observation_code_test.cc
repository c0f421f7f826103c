// Observations of real environments survive their coding bit for bit, in few bytes.
#include "core/codec/observation_code.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/codec/coded.h"
#include "core/cost/analytic.h"
#include "core/env/features.h"
#include "core/env/rewrite_env.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::env {
namespace {

// Episodes of random rewrites, as an actor without weights plays them, now and then ended by NO-OP. `look` sees each
// step's result and the observation before it; null where an episode starts.
using Look =
    std::function<void(const mdp::Observation* before, const mdp::Observation& now, const mdp::Changes& reported)>;

std::vector<mdp::Trajectory> play(
    const std::string& graph, int episodes, int steps, uint64_t seed,
    const Look& look = [](const auto*, const auto&, const auto&) {}, bool no_op = false) {
  RewriteEnv env(zoo::make(graph), rules::shipped_rules(), std::make_shared<cost::AnalyticCost>(),
                 {.max_steps = steps});
  std::vector<mdp::Trajectory> trajectories;
  for (int episode = 0; episode < episodes; ++episode) {
    Rng rng({seed, static_cast<uint64_t>(episode)});
    mdp::Trajectory& t = trajectories.emplace_back();
    t.last = env.reset(0);
    look(nullptr, t.last, {});
    for (bool done = false; !done;) {
      const auto& o = t.last;
      std::vector<int32_t> legal;
      for (size_t x = 0; x < o.counts.size(); ++x) {
        if (o.counts[x] > 0) legal.push_back(static_cast<int32_t>(x));
      }
      const int32_t rule = legal[rng.below(legal.size())];
      mdp::Step step;
      step.action = {rule, static_cast<int32_t>(rng.below(static_cast<uint64_t>(o.counts[rule])))};
      if (no_op && rng.below(20) == 0) step.action = {static_cast<int32_t>(o.counts.size()), 0};
      auto result = env.step(step.action);
      look(&o, result.observation, result.changes);
      step.observation = std::exchange(t.last, std::move(result.observation));
      step.reward = result.reward;
      step.info = result.info;
      t.steps.push_back(std::move(step));
      done = result.terminal || result.truncated;
    }
  }
  return trajectories;
}

// Floats with all their bits: == would let -0 pass for 0.
std::string all_bits(const mdp::Observation& o) {
  ByteWriter out;
  out.put_vector(o.node_op);
  out.put_vector(o.node_feat);
  out.put_vector(o.edge_src);
  out.put_vector(o.edge_dst);
  out.put_vector(o.edge_feat);
  out.put_vector(o.globals);
  out.put_vector(o.counts);
  out.put_vector(o.loc_node);
  out.put_vector(o.loc_feat);
  out.put_vector(o.loc_rest_end);
  out.put_vector(o.loc_rest);
  out.put_vector(o.latent);
  return out.take();
}

struct Size {
  double whole = 0, coded = 0;  // bytes a step
};

Size check_episodes(const std::string& graph, int episodes, int steps) {
  Size size;
  double count = 0;
  for (const auto& t : play(graph, episodes, steps, 11)) {
    const auto bytes = mdp::encode(t);
    const auto u = mdp::decode(bytes);
    EXPECT_EQ(u.steps.size(), t.steps.size());
    for (size_t i = 0; i < t.steps.size(); ++i) {
      EXPECT_EQ(all_bits(u.steps[i].observation), all_bits(t.steps[i].observation)) << graph << " step " << i;
      EXPECT_EQ(u.steps[i].info.cost_us, t.steps[i].info.cost_us);
      EXPECT_EQ(u.steps[i].info.peak_bytes, t.steps[i].info.peak_bytes);
      EXPECT_EQ(u.steps[i].info.rule, t.steps[i].info.rule);
      size.whole += static_cast<double>(all_bits(t.steps[i].observation).size());
    }
    EXPECT_EQ(all_bits(u.last), all_bits(t.last));
    size.coded += static_cast<double>(bytes.size());
    count += static_cast<double>(t.steps.size());
  }
  std::printf("%s: %.0f bytes a step whole, %.0f coded\n", graph.c_str(), size.whole / count, size.coded / count);
  return {size.whole / count, size.coded / count};
}

TEST(ObservationCode, ResNet50FitsInAKilobyteAStep) {
  const auto size = check_episodes("resnet50", 3, 60);
  EXPECT_GT(size.whole, 20000);
  EXPECT_LT(size.coded, 1000);
  // Short episodes carry their first observation, too.
  EXPECT_LT(check_episodes("resnet50", 3, 12).coded, 1000);
}

TEST(ObservationCode, EveryGraphOfTheZooSurvives) {
  for (const auto& graph : {"bert", "inception_v3", "squeezenet1_1", "resnet18", "toy_residual", "toy_attention"}) {
    const auto size = check_episodes(graph, 2, 40);
    EXPECT_LT(size.coded, size.whole / 5) << graph;
  }
}

// What the environment shows is what a comparison finds: nothing that it calls kept has changed.
void expect_true(const mdp::Observation& before, const mdp::Observation& now, const mdp::Changes& reported) {
  constexpr size_t kWidth = kNodeFeatures, kEdgeWidth = kEdgeFeatures;
  const auto edges_of = [](const mdp::Observation& o, size_t node) {
    std::vector<size_t> edges;
    for (size_t e = 0; e < o.edge_dst.size(); ++e) {
      if (o.edge_dst[e] == static_cast<int32_t>(node)) edges.push_back(e);
    }
    return edges;
  };
  ASSERT_EQ(reported.from.size(), now.node_op.size());
  ASSERT_EQ(reported.kept.size(), now.node_op.size());
  for (size_t i = 0; i < now.node_op.size(); ++i) {
    if (!reported.kept[i]) continue;
    ASSERT_GE(reported.from[i], 0);
    const auto b = static_cast<size_t>(reported.from[i]);
    EXPECT_EQ(now.node_op[i], before.node_op[b]);
    for (size_t c = 0; c < kWidth; ++c) {
      if (reported.varying >> c & 1) continue;
      EXPECT_EQ(now.node_feat[i * kWidth + c], before.node_feat[b * kWidth + c]) << node_feature_names()[c];
    }
    const auto edges = edges_of(now, i), old = edges_of(before, b);
    ASSERT_EQ(edges.size(), old.size());
    for (size_t k = 0; k < edges.size(); ++k) {
      EXPECT_EQ(reported.from[static_cast<size_t>(now.edge_src[edges[k]])], before.edge_src[old[k]]);
      for (size_t c = 0; c < kEdgeWidth; ++c)
        EXPECT_EQ(now.edge_feat[edges[k] * kEdgeWidth + c], before.edge_feat[old[k] * kEdgeWidth + c]);
    }
  }
}

TEST(ObservationCode, WhatTheEnvironmentReportsIsTrueAndCodesTheSame) {
  for (const auto& graph : {"resnet50", "bert", "inception_v3", "squeezenet1_1", "toy_residual", "toy_attention"}) {
    mdp::ObservationEncoder by_reported, by_comparison;
    std::optional<mdp::Observation> first, decoded;  // as a reader has them
    size_t number = 0, reported_bytes = 0, compared_bytes = 0, kept = 0, rows = 0;
    play(
        graph, 3, 50, 17,
        [&](const auto* before, const auto& now, const auto& reported) {
          if (before != nullptr) expect_true(*before, now, reported);
          ByteWriter out, compared;
          by_reported.put(before, now, out, &reported);
          by_comparison.put(before, now, compared);
          number = before == nullptr ? 0 : number + 1;
          ByteReader in(out.bytes());
          const mdp::Observation* base = before == nullptr ? nullptr : mdp::base_of(number) == 0 ? &*first : &*decoded;
          decoded = mdp::decode_observation(base, in);
          if (before == nullptr) first = decoded;
          EXPECT_TRUE(in.done());
          EXPECT_EQ(all_bits(*decoded), all_bits(now)) << graph << " observation " << number;
          reported_bytes += out.bytes().size();
          compared_bytes += compared.bytes().size();
          rows += reported.kept.size();
          for (const uint8_t one : reported.kept) kept += one;
        },
        true);
    EXPECT_LT(static_cast<double>(reported_bytes), 1.1 * static_cast<double>(compared_bytes)) << graph;
    EXPECT_GT(static_cast<double>(kept), 0.5 * static_cast<double>(rows)) << graph;
    std::printf("%s: %zu bytes by what is reported, %zu by comparison, %.1f %% of rows kept\n", graph, reported_bytes,
                compared_bytes, 100 * static_cast<double>(kept) / static_cast<double>(rows));
  }
}

}  // namespace
}  // namespace rlgo::env

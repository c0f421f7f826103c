// Observations of real environments survive their coding bit for bit, in few bytes.
#include "core/mdp/observation_code.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/env/rewrite_env.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::env {
namespace {

// Episodes of random rewrites, as an actor without weights plays them.
std::vector<mdp::Trajectory> play(const std::string& graph, int episodes, int steps, uint64_t seed) {
  RewriteEnv env(zoo::make(graph), rules::shipped_rules(), std::make_shared<cost::AnalyticCost>(),
                 {.max_steps = steps});
  std::vector<mdp::Trajectory> trajectories;
  for (int episode = 0; episode < episodes; ++episode) {
    Rng rng({seed, static_cast<uint64_t>(episode)});
    mdp::Trajectory& t = trajectories.emplace_back();
    t.last = env.reset(0);
    for (bool done = false; !done;) {
      const auto& o = t.last;
      std::vector<int32_t> legal;
      for (size_t x = 0; x < o.counts.size(); ++x) {
        if (o.counts[x] > 0) legal.push_back(static_cast<int32_t>(x));
      }
      const int32_t xfer = legal[rng.below(legal.size())];
      mdp::Step step;
      step.action = {xfer, static_cast<int32_t>(rng.below(static_cast<uint64_t>(o.counts[xfer])))};
      auto result = env.step(step.action);
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

}  // namespace
}  // namespace rlgo::env

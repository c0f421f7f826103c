#include "learner/session/speed.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "actors/collector.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/stopwatch.h"
#include "core/nets/batch.h"

namespace rlgo::learner {
namespace {

// A random legal action, NO-OP left out.
mdp::Action random_action(const mdp::Observation& observation, Rng& rng) {
  std::vector<int32_t> legal;
  for (size_t x = 0; x < observation.counts.size(); ++x) {
    if (observation.counts[x] > 0) legal.push_back(static_cast<int32_t>(x));
  }
  if (legal.empty()) fail("no rule applies to this graph");
  const int32_t rule = legal[rng.below(legal.size())];
  return {rule, static_cast<int32_t>(rng.below(static_cast<uint64_t>(observation.counts[rule])))};
}

class Keep : public actors::CodedSink {
 public:
  void on_trajectory(mdp::CodedTrajectory trajectory) override {
    kept.push_back(std::make_shared<const mdp::CodedTrajectory>(std::move(trajectory)));
  }
  void on_lost(const actors::LostEpisode& lost) override { fail("episode lost: {}", lost.what); }
  int64_t steps() const {
    int64_t sum = 0;
    for (const auto& t : kept) sum += static_cast<int64_t>(t->facts.steps.size());
    return sum;
  }
  std::vector<Episode> kept;
};

}  // namespace

double environment_steps_per_s(mdp::Env& env, double seconds) {
  Rng rng({1});
  mdp::Observation observation = env.reset(0);
  double spent = 0;
  int64_t steps = 0;
  while (spent < seconds) {
    const auto action = random_action(observation, rng);
    const ThreadStopwatch watch;
    auto result = env.step(action);
    observation = result.terminal || result.truncated ? env.reset(0) : std::move(result.observation);
    spent += watch.us() * 1e-6;
    ++steps;
  }
  return static_cast<double>(steps) / spent;
}

PolicySpeed policy_speed(actors::Policy& policy, nets::AgentImpl& network, mdp::Env& env, double seconds) {
  Rng rng({2});
  PolicySpeed result;
  mdp::Observation observation = env.reset(0);
  double spent = 0;
  const auto compare = [&](float a, float b) {
    result.worst = std::max(result.worst, static_cast<double>(std::abs(a - b)) / std::max(1.0, std::abs(double{b})));
  };
  for (; spent < seconds; ++result.steps) {
    const mdp::Observation* seen[] = {&observation};
    Rng stream({3, static_cast<uint64_t>(result.steps)});
    Rng* streams[] = {&stream};
    const ThreadStopwatch watch;
    const auto decision = policy.act(seen, streams).at(0);
    spent += watch.us() * 1e-6;
    const torch::NoGradGuard no_gradients;
    const auto full = network.evaluate(nets::collate(observation, network.spec()), {&decision.action, 1});
    compare(decision.log_prob_rule + decision.log_prob_location, full.log_prob().item<float>());
    compare(decision.value_rule, full.value_rule.item<float>());
    auto next = env.step(random_action(observation, rng));
    observation = next.terminal || next.truncated ? env.reset(0) : std::move(next.observation);
  }
  result.ms = spent * 1e3 / static_cast<double>(result.steps);
  return result;
}

LearnerSpeed learner_speed(Algorithm& algorithm, mdp::BatchEnv& envs, actors::Policy& policy, int64_t least_steps) {
  policy.load(algorithm.weights(), 0);
  Keep sink;
  actors::CollectorOptions options;
  options.seed = 3;
  actors::Collector collector(envs, policy, sink, options);
  const ThreadStopwatch collecting;
  while (sink.steps() < least_steps) collector.round([&] { return true; });
  LearnerSpeed speed;
  speed.collected_per_s = static_cast<double>(collector.stats().steps) / (collecting.us() * 1e-6);
  const double steps = static_cast<double>(sink.steps());
  const ThreadStopwatch training;
  algorithm.update(std::move(sink.kept), {});
  speed.trained_per_s = steps / (training.us() * 1e-6);
  return speed;
}

double dream_steps_per_s(const std::shared_ptr<actors::Dreamer>& dreamer, const actors::DreamOptions& options,
                         double seconds) {
  actors::DreamEnv env(dreamer, options);
  actors::DreamerPolicy policy(dreamer);
  Keep sink;
  actors::CollectorOptions how;
  how.dream = how.step_together = true;
  actors::Collector collector(env, policy, sink, how);
  collector.round([] { return true; });
  const auto first = collector.stats().steps;
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    collector.round([] { return true; });
    sink.kept.clear();
  }
  return static_cast<double>(collector.stats().steps - first) / watch.seconds();
}

}  // namespace rlgo::learner

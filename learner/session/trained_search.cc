#include "learner/session/trained_search.h"

#include <memory>

#include "actors/collector.h"
#include "actors/network_policy.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/env/playground.h"
#include "core/exec/tensors.h"
#include "core/nets/actor_critic.h"
#include "learner/ppo_algorithm.h"
#include "learner/session/best.h"
#include "learner/session/gains.h"

namespace rlgo::learner {
namespace {

constexpr int kEnvs = 4;
constexpr int64_t kSteps = 512;  // of episodes, for an update

class TrainedSearch : public actors::CodedSink {
 public:
  TrainedSearch(const search::Problem& problem, const search::Options& options, std::shared_ptr<env::Starts> starts)
      : problem_(problem),
        options_(options),
        starts_(std::move(starts)),
        gains_(problem.graph, problem.rules, problem.cost, options.max_locations),
        best_(rules::TraceFile(), cost::graph_cost(problem.cost, problem.graph).runtime_us) {
    const auto& found = starts_->best();
    if (!found.rewrites.empty()) best_.replace(found.rewrites, found.cost_us);
  }

  search::Result run() {
    curve_.push_back({0, 0, best_.initial_us()});
    note_best();
    if (starts_->ways() > 0) train();
    search::Result result;
    result.graph = rules::replay(problem_.graph, problem_.rules, best_.trace().rewrites, options_.max_locations);
    result.before_us = best_.initial_us();
    result.after_us = best_.best_us();
    result.trace = best_.trace().rewrites;
    result.reason = starts_->ways() > 0 ? search::StopReason::stopped : search::StopReason::finished;
    result.counters = counters_;
    result.seconds = watch_.seconds();
    result.curve = std::move(curve_);
    return result;
  }

  void on_trajectory(mdp::CodedTrajectory trajectory) override {
    ++counters_.walks;
    const mdp::Trajectory& facts = trajectory.facts;
    best_.offer(facts, problem_.rules->size());
    keep_gain(facts, gains_, best_, *starts_);
    note_best();
    episodes_.push_back(std::make_shared<const mdp::CodedTrajectory>(std::move(trajectory)));
  }
  void on_lost(const actors::LostEpisode&) override {}  // the collector throws where too many are lost in a row

 private:
  void train() {
    const exec::ThreadScope one_thread(1);  // of small networks several threads wait for each other
    // Not owned: the caller's cost model outlives the search.
    const std::shared_ptr<cost::CostModel> cost(std::shared_ptr<void>(), &problem_.cost);
    env::EnvOptions env = window_env();
    env.max_locations = options_.max_locations;
    const auto envs = env::make_envs({{problem_.graph, starts_, {}}}, problem_.rules, cost, env, kEnvs);
    const auto network = [&] { return nets::ActorCritic(envs->spec(), window_agent(), options_.seed).ptr(); };
    PpoAlgorithm algorithm(network(), PpoOptions(), options_.seed);
    actors::NetworkPolicy policy(network());
    actors::Collector collector(*envs, policy, *this, {.seed = options_.seed});
    int64_t version = 0;
    policy.load(algorithm.weights(), version);
    while (!options_.stop()) {
      const int64_t begin = counters_.steps;
      // What was met is measured in one go, with the update: exploring meets far more than there is time to measure.
      const bool gathers = problem_.cost.defer();
      while (counters_.steps < begin + kSteps && !options_.stop()) {
        counters_.steps += collector.round([] { return true; });
        counters_.candidates = counters_.steps;
        if (options_.progress) options_.progress(counters_, best_.best_us());
      }
      if (gathers) problem_.cost.flush();
      if (options_.stop() || episodes_.empty()) continue;
      algorithm.update(std::exchange(episodes_, {}), {version, 0, [] {}});
      policy.load(algorithm.weights(), ++version);
    }
  }

  void note_best() {
    if (best_.best_us() < curve_.back().best_us)
      curve_.push_back({watch_.seconds(), counters_.candidates, best_.best_us()});
  }

  const search::Problem& problem_;
  const search::Options& options_;
  const Stopwatch watch_;
  std::shared_ptr<env::Starts> starts_;
  Gains gains_;
  BestGraph best_;
  std::vector<Episode> episodes_;
  search::Counters counters_;
  std::vector<search::Sample> curve_;
};

}  // namespace

env::EnvOptions window_env() {
  env::EnvOptions options;
  options.frontier = 1;
  options.window = 40;
  options.reward = env::Reward::best;
  return options;
}

nets::AgentOptions window_agent() {
  nets::AgentOptions options;
  options.beta = 0.001;
  options.noop_bias = -4;
  return options;
}

search::Result search_by_training(const search::Problem& problem, const search::Options& options,
                                  const std::vector<rules::Trace>& ways) {
  if (!options.stop) fail("a search that learns has no end of its own: give it one (search::Options::stop)");
  const auto starts =
      std::make_shared<env::Starts>(problem.graph, problem.rules, problem.cost, options.max_locations, 1.0, ways);
  return TrainedSearch(problem, options, starts).run();
}

}  // namespace rlgo::learner

#include "launch/train/policy_prior.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/env/features.h"
#include "core/env/rewrite_env.h"
#include "core/nets/actor_critic.h"
#include "core/nets/batch.h"
#include "core/nets/row_cache.h"
#include "learner/checkpoint.h"
#include "learner/ppo/trainer_checkpoint.h"
#include "learner/session/run_folder.h"
#include "learner/torch_tensors.h"

namespace rlgo::launch {
namespace {

class NetworkPrior : public search::PolicyPrior {
 public:
  NetworkPrior(nets::ActorCritic network, std::shared_ptr<cost::CostModel> cost)
      : network_(std::move(network)), cost_(std::move(cost)), features_(cost_) {
    if (network_->local_encoder()) rows_.emplace(*network_);
  }

  Scores rank(const graph::Graph& graph, const rules::MatchIndex& matches, int max_locations,
              const search::Position& at) override {
    features_.reset(graph);
    const search::State state{graph, matches, graph::NameHash(graph), at.current_us, 0, nullptr};
    const search::Walk walk(
        state, *cost_, *cost_, max_locations, [] { return true; }, search::Walk::Unknown::estimated);
    const env::Progress progress{at.initial_us, at.current_us, at.best_us};
    const auto seen = features_.observe(graph, walk.places(), matches.rules().size(), progress);
    const torch::NoGradGuard no_gradients;
    const mdp::Observation* const one[] = {&seen};
    const auto batch = rows_ ? rows_->collate(one) : nets::collate(seen, network_->spec());
    const auto policy = network_->policy(batch, network_->encode(batch));
    const auto score = nets::to_floats(policy.score);
    const float stop = policy.stop.item<float>();
    double total = 0, highest = stop;
    for (const float s : score) highest = std::max(highest, static_cast<double>(s));
    for (const float s : score) total += std::exp(s - highest);
    const double norm = highest + std::log(total + std::exp(stop - highest));
    Scores scores;
    for (const float s : score) scores.moves.push_back(static_cast<float>(s - norm));
    scores.stop = static_cast<float>(stop - norm);
    return scores;
  }

 private:
  nets::ActorCritic network_;
  std::optional<nets::RowCache> rows_;  // of a local encoder
  std::shared_ptr<cost::CostModel> cost_;
  env::FeatureBuilder features_;
};

learner::Checkpoint best_checkpoint(const learner::RunFolder& folder) {
  const learner::CheckpointFolder checkpoints(folder.checkpoints());
  if (const auto best = checkpoints.best()) return learner::load(*best);
  auto newest = learner::latest(folder.checkpoints());
  if (!newest.checkpoint) fail("{}: has no valid checkpoint of an agent", folder.checkpoints().string());
  return std::move(*newest.checkpoint);
}

}  // namespace

std::unique_ptr<search::PolicyPrior> load_policy_prior(const std::filesystem::path& run_folder,
                                                       const graph::Graph& graph,
                                                       std::shared_ptr<const rules::RuleSet> rules,
                                                       std::shared_ptr<cost::CostModel> cost, int max_locations) {
  const learner::RunFolder folder{run_folder};
  RunConfig config;
  Options options;
  declare(options, config);
  options.parse_config(learner::run_options(folder.path), folder.config().string(), Source::resumed);
  if (config.agent != Agent::model_free)
    fail("{}: its agent '{}' has no policy network", run_folder.string(), name_of(config.agent, kAgents));
  const auto checkpoint = best_checkpoint(folder);
  const auto trained_with = checkpoint.texts.find("rules_hash");
  if (trained_with == checkpoint.texts.end() || trained_with->second != fmt::format("{:016x}", rules->hash()))
    fail("{}: the agent was trained with other rules; name them with --rules", run_folder.string());
  if (config.env.max_locations < max_locations) {
    fail("{}: the agent knows {} locations of a rule; search with --search.max-locations {}", run_folder.string(),
         config.env.max_locations, config.env.max_locations);
  }
  config.env.reward = env::Reward::step;  // of no matter here, and measures nothing
  const env::RewriteEnv env(graph, std::move(rules), cost, config.env);
  nets::ActorCritic network(env.spec(), config.network, config.seed);
  learner::restore_module(checkpoint, learner::kNetworkPrefix, *network);
  network->eval();
  return std::make_unique<NetworkPrior>(std::move(network), std::move(cost));
}

}  // namespace rlgo::launch

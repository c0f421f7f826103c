#include "launch/train/policy_prior.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/env/rewrite_env.h"
#include "core/nets/actor_critic.h"
#include "learner/checkpoint.h"
#include "learner/ppo/trainer_checkpoint.h"
#include "learner/session/network_prior.h"
#include "learner/session/run_folder.h"
#include "learner/torch_tensors.h"

namespace rlgo::launch {

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
  const auto checkpoint = learner::best_or_latest(folder.checkpoints());
  const auto trained_with = checkpoint.texts.find("rules_hash");
  if (trained_with == checkpoint.texts.end() || trained_with->second != hex(rules->hash()))
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
  return learner::network_prior(std::move(network), std::move(cost));
}

}  // namespace rlgo::launch

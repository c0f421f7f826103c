#include "launch/train/agent_of_run.h"

#include "core/base/error.h"
#include "core/rules/rule_choice.h"
#include "launch/config.h"
#include "launch/revision.h"
#include "learner/session/agent_of_run.h"

namespace rlgo::launch {

agent::AgentFile agent_of_run(const std::filesystem::path& run_folder) {
  RunConfig config;
  Options options;
  declare(options, config);
  const std::string text = learner::run_options(run_folder);
  options.parse_config(text, learner::RunFolder{run_folder}.config().string(), Source::resumed);
  if (config.agent != Agent::model_free)
    fail("{}: its agent '{}' has no policy network", run_folder.string(), name_of(config.agent, kAgents));
  const auto rules = rules::choose_rules(config.rules);
  auto agent = learner::agent_of_run({run_folder}, *rules, config.network, config.env.max_locations);
  agent.about.insert({{"graph", config.model.graph}, {"revision", kRevision}, {"options", text}});
  agent.about["reward"] = name_of(config.env.reward, env::kRewards);
  return agent;
}

}  // namespace rlgo::launch

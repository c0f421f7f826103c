#include "learner/session/agent_of_run.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/env/features.h"
#include "core/nets/plain.h"
#include "learner/checkpoint.h"
#include "learner/ppo/trainer_checkpoint.h"
#include "learner/torch_tensors.h"

namespace rlgo::learner {

agent::AgentFile agent_of_run(const RunFolder& run, const rules::RuleSet& rules, const nets::AgentOptions& network,
                              int max_locations) {
  const auto checkpoint = best_or_latest(run.checkpoints());
  const auto trained_with = checkpoint.texts.find("rules_hash");
  if (trained_with == checkpoint.texts.end() || trained_with->second != hex(rules.hash()))
    fail("{}: the rules have changed since the agent was trained", run.path.string());
  const auto shape = nets::plain_shape(network);
  nets::ActorCritic module(env::observation_spec(rules, max_locations), network, 0);
  restore_module(checkpoint, kNetworkPrefix, *module);
  return {module->spec(), shape, nets::plain_tensors(*module), {{"trained by", "rlgo train"}}};
}

}  // namespace rlgo::learner

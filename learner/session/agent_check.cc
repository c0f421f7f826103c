#include "learner/session/agent_check.h"

#include "core/base/error.h"

namespace rlgo::learner {
namespace {

// An agent with a world model that the network's options are for.
void check_dreamer(const DreamAgentOptions& dream, const nets::AgentOptions& network, const env::EnvOptions& env) {
  using nets::Block;
  using nets::PolicyHead;
  const std::string block = name_of(network.block, nets::kBlocks);
  if (dream.hybrid && dream.controller.controller == nets::Controller::cma_es)
    fail("--dream.controller cma-es with --agent hybrid: real play trains by PPO; take --agent model-based");
  if (env.candidates) fail("--policy.candidates with an agent that has a world model: take --agent model-free");
  if (network.head == PolicyHead::flat)
    fail("--policy.head flat with an agent that has a world model: take joint or staged");
  if (!dream.world.locations) return;
  const auto refuse = [](const std::string& option, const char* why) {
    fail("{} with --wm.locations true: {}; take --wm.locations no", option, why);
  };
  if (network.head == PolicyHead::staged)
    refuse("--policy.head staged", "a controller that sees locations has one softmax over them");
  if (network.block == Block::gcn || network.block == Block::gat)
    refuse("--gnn.block " + block, "embeddings of locations need a local block");
  if (!env.prices_locations) refuse("--policy.prices no", "the world model sees the change of cost of each location");
}

}  // namespace

void check_agent(const DreamAgentOptions& dream, const nets::AgentOptions& network, const env::EnvOptions& env,
                 bool world_model) {
  check(dream);
  check(network);
  if (dream.kind == WorldKind::latency && (!world_model || dream.hybrid))
    fail("--wm.kind latency goes with --agent model-based");
  if (env.window > 0 && env.reward == env::Reward::latency)
    fail("--env.window {} with --env.reward latency: windows begin and end with greedy descent by prices", env.window);
  if (world_model) check_dreamer(dream, network, env);
  if (!env.prices_locations && network.beta != nets::kBeta)
    fail("--policy.beta {} with --policy.prices no: there is no heat bath over prices that are hidden; leave it out",
         network.beta);
  if (!env.prices_locations && env.window > 0)
    fail("--env.window {} with --policy.prices no: windows begin where greedy descent by these prices ends",
         env.window);
  if (env.candidates && network.location_head == nets::LocationHead::index)
    fail("--policy.candidates with --policy.location-head index: location numbers do not look at candidates");
  if (env.candidates && network.head == nets::PolicyHead::flat)
    fail("--policy.candidates with --policy.head flat: its table does not look at candidates");
}

std::string agent_form(const DreamAgentOptions& dream, const nets::AgentOptions& network, const env::EnvOptions& env,
                       bool world_model) {
  std::vector<std::string> parts;
  if (!env.prices_locations) parts.emplace_back("prices hidden");
  if (env.candidates) parts.emplace_back("sees each rewrite's graph");
  if (!world_model && network.head != nets::PolicyHead::joint)
    parts.push_back(fmt::format("head {}", name_of(network.head, nets::kPolicyHeads)));
  if (world_model ? !dream.world.locations : network.location_head == nets::LocationHead::index)
    parts.emplace_back("locations as numbers");
  const auto block = world_model ? dream.world.encoder.block : network.block;
  if (block != nets::Block::local) parts.push_back(fmt::format("block {}", name_of(block, nets::kBlocks)));
  if (world_model && dream.encoder != DreamAgentOptions{}.encoder)
    parts.push_back(fmt::format("encoder {}", name_of(dream.encoder, kEncoderSources)));
  if (world_model && dream.controller.controller == nets::Controller::cma_es)
    parts.emplace_back("linear controller by CMA-ES");
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

}  // namespace rlgo::learner

#include "launch/train/algorithm_factory.h"

#include "actors/dream_env.h"
#include "actors/latent_env.h"
#include "actors/network_policy.h"
#include "core/base/error.h"
#include "core/exec/device_tools.h"
#include "core/exec/tensors.h"
#include "core/nets/actor_critic.h"
#include "learner/dream/dream_agent.h"
#include "learner/ppo_algorithm.h"

namespace rlgo::launch {

int32_t latent_features(const RunConfig& config) {
  if (!config.has_world_model()) return 0;
  const auto& world = config.dream.world;
  return config.network.width + (world.locations ? 0 : world.hidden);
}

int32_t location_latents(const RunConfig& config) {
  const auto& world = config.dream.world;
  return config.has_world_model() && world.locations ? world.location_width + 2 : 0;
}

bool dreams_on(const RunConfig& config, int rank, int ranks) {
  if (config.dream.actors == 0) return false;
  return rank >= ranks - config.dream.actors;
}

Player make_player(const RunConfig& config, std::unique_ptr<mdp::BatchEnv> real, bool dreams,
                   const exec::Device& device) {
  Player player;
  player.dreams = dreams;
  if (config.agent == Agent::random) {
    player.policy = std::make_unique<actors::RandomPolicy>();
  } else if (config.agent == Agent::model_free) {
    nets::ActorCritic network(real->spec(), config.network, config.seed);
    network->to(exec::to_torch(device));
    auto policy = std::make_unique<actors::NetworkPolicy>(network.ptr());
    // Rank 0 times operators on the GPU of its node's inference rank.
    if (device.kind == exec::Device::Kind::cuda)
      policy->set_hold([lock = exec::device_lock(device)] { return lock.share(); });
    player.policy = std::move(policy);
  } else if (config.has_world_model()) {
    const auto dreamer = learner::make_dreamer(dream_agent_options(config), real->spec(), config.seed, torch::kCPU);
    player.policy = std::make_unique<actors::DreamerPolicy>(dreamer);
    if (dreams) {
      player.envs = std::make_unique<actors::DreamEnv>(dreamer, dream_agent_options(config).dream);
      player.ready = [dreamer] { return dreamer->may_dream; };
    } else {
      player.envs = std::make_unique<actors::LatentEnv>(std::move(real), dreamer);
    }
    return player;
  } else {
    fail("no algorithm for agent {}", name_of(config.agent, kAgents));
  }
  player.envs = std::move(real);
  return player;
}

std::shared_ptr<learner::Algorithm> make_algorithm(const AlgorithmInput& in) {
  const auto& c = in.config;
  if (c.agent == Agent::random) return std::make_shared<learner::NoAlgorithm>();
  const auto device = exec::to_torch(in.device);
  if (c.agent == Agent::model_free) {
    nets::ActorCritic network(in.spec, c.network, c.seed);
    network->to(device);
    return std::make_shared<learner::PpoAlgorithm>(network.ptr(), c.ppo, c.seed);
  }
  if (!c.has_world_model()) fail("no algorithm for agent {}", name_of(c.agent, kAgents));
  return std::make_shared<learner::DreamAgent>(learner::DreamAgentInput{
      dream_agent_options(c), c.ppo, in.spec, device, c.seed, c.loop.epochs, c.env.max_steps, in.initial, in.rollouts});
}

}  // namespace rlgo::launch

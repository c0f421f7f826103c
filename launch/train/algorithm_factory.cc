#include "launch/train/algorithm_factory.h"

#include "actors/dream_env.h"
#include "actors/latent_env.h"
#include "actors/network_policy.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/nets/actor_critic.h"
#include "launch/train/dream_agent.h"
#include "launch/train/network.h"
#include "learner/ppo/trainer.h"
#include "learner/ppo_algorithm.h"
#include "learner/torch_tensors.h"

namespace rlgo::launch {
namespace {

constexpr const char* kTrainer = "trainer/";

// The trainer and what adapts it to the loop, kept together.
struct Ppo {
  Ppo(nets::ActorCritic network, const learner::PpoOptions& options, uint64_t seed)
      : trainer(network.ptr(), options), algorithm(trainer, seed) {}
  learner::PpoTrainer trainer;
  learner::PpoAlgorithm algorithm;
};

Brain ppo_brain(const RunConfig& config, const mdp::ObservationSpec& spec, const exec::Device& device) {
  auto network = make_network(config, spec);
  network->to(to_torch(device));
  auto ppo = std::make_shared<Ppo>(std::move(network), config.ppo, config.seed);
  Brain brain;
  brain.algorithm = {ppo, &ppo->algorithm};
  brain.store = [ppo](learner::Checkpoint& c) { store(ppo->trainer, *ppo->trainer.agent(), c); };
  brain.restore = [ppo](const learner::Checkpoint& c) { restore(ppo->trainer, *ppo->trainer.agent(), c); };
  brain.join = [ppo](std::shared_ptr<learner::LearnerGroup> group) { ppo->algorithm.set_group(std::move(group)); };
  return brain;
}

Brain dream_brain(const BrainInput& in) {
  const auto agent = make_dream_agent(in);
  Brain brain;
  brain.algorithm = agent;
  brain.store = [agent](learner::Checkpoint& c) { agent->store(c); };
  brain.restore = [agent](const learner::Checkpoint& c) { agent->restore(c); };
  brain.join = [agent](std::shared_ptr<learner::LearnerGroup> group) { agent->set_group(std::move(group)); };
  return brain;
}

}  // namespace

nets::ActorCritic make_network(const RunConfig& config, const mdp::ObservationSpec& spec) {
  return nets::ActorCritic(spec, config.network, config.seed);
}

torch::Device to_torch(const exec::Device& device) {
  if (device.kind == exec::Device::Kind::cpu) return torch::Device(torch::kCPU);
  return torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(device.index));
}

void store(const learner::PpoTrainer& trainer, const torch::nn::Module& network, learner::Checkpoint& c) {
  learner::store_module(c, kNetworkPrefix, network);
  for (const auto& [name, tensor] : trainer.state()) c.tensors[kTrainer + name] = learner::to_data(tensor);
}

void restore(learner::PpoTrainer& trainer, torch::nn::Module& network, const learner::Checkpoint& c) {
  learner::restore_module(c, kNetworkPrefix, network);
  trainer.load_state(learner::tensors_with(c, kTrainer));
}

std::shared_ptr<DreamAgent> make_dream_agent(const BrainInput& in) {
  const auto& c = in.config;
  return std::make_shared<DreamAgent>(DreamAgentInput{dream_agent_options(c), c.ppo, in.spec, to_torch(in.device),
                                                      c.seed, c.loop.epochs, c.env.max_steps, in.initial, in.rollouts});
}

int32_t latent_features(const RunConfig& config) {
  return config.has_world_model() ? static_cast<int32_t>(config.network.width + config.dream.world.hidden) : 0;
}

bool dreams_on(const RunConfig& config, int rank, int ranks) {
  if (config.dream.actors == 0) return false;
  return rank >= ranks - config.dream.actors;
}

Player make_player(const RunConfig& config, std::unique_ptr<mdp::BatchEnv> real, bool dreams) {
  Player player;
  player.dreams = dreams;
  if (config.agent == Agent::random) {
    player.policy = std::make_unique<actors::RandomPolicy>();
  } else if (config.agent == Agent::model_free) {
    player.policy = std::make_unique<actors::NetworkPolicy>(make_network(config, real->spec()).ptr());
  } else if (config.has_world_model()) {
    const auto dreamer = make_dreamer(dream_agent_options(config), real->spec(), config.seed, torch::kCPU);
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

Brain make_brain(const BrainInput& in) {
  const auto& config = in.config;
  if (config.agent == Agent::random)
    return {std::make_shared<learner::NoAlgorithm>(), [](learner::Checkpoint&) {}, [](const learner::Checkpoint&) {},
            [](const std::shared_ptr<learner::LearnerGroup>&) {}};
  if (config.agent == Agent::model_free) return ppo_brain(config, in.spec, in.device);
  if (config.has_world_model()) return dream_brain(in);
  fail("no algorithm for agent {}", name_of(config.agent, kAgents));
}

uint64_t digest(const Brain& brain) {
  learner::Checkpoint c;
  brain.store(c);
  std::erase_if(c.tensors, [](const auto& item) { return item.first.starts_with(kStartsPrefix); });
  const std::string bytes = encode(c);
  return hash_bytes(bytes.data(), bytes.size());
}

}  // namespace rlgo::launch

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

nets::AgentOptions agent_options(const RunConfig& config) {
  nets::AgentOptions options;
  options.rounds = static_cast<int>(config.gnn_rounds);
  options.width = static_cast<int>(config.gnn_width);
  options.location_head = config.policy_location_head;
  options.noop_bias = config.policy_noop_bias;
  return options;
}

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
  auto ppo = std::make_shared<Ppo>(std::move(network), ppo_options(config), static_cast<uint64_t>(config.seed));
  Brain brain;
  brain.algorithm = {ppo, &ppo->algorithm};
  brain.store = [ppo](learner::Checkpoint& c) { store(ppo->trainer, *ppo->trainer.agent(), c); };
  brain.restore = [ppo](const learner::Checkpoint& c) { restore(ppo->trainer, *ppo->trainer.agent(), c); };
  brain.join = [ppo](std::shared_ptr<learner::LearnerGroup> group) { ppo->algorithm.set_group(std::move(group)); };
  return brain;
}

Brain dream_brain(const BrainInput& in) {
  const auto agent = std::make_shared<DreamAgent>(in.config, in.spec, to_torch(in.device), in.initial, in.rollouts);
  Brain brain;
  brain.algorithm = agent;
  brain.store = [agent](learner::Checkpoint& c) { agent->store(c); };
  brain.restore = [agent](const learner::Checkpoint& c) { agent->restore(c); };
  brain.join = [agent](std::shared_ptr<learner::LearnerGroup> group) { agent->set_group(std::move(group)); };
  return brain;
}

}  // namespace

nets::ActorCritic make_network(const RunConfig& config, const mdp::ObservationSpec& spec) {
  return nets::ActorCritic(spec, agent_options(config), static_cast<uint64_t>(config.seed));
}

learner::PpoOptions ppo_options(const RunConfig& config) {
  learner::PpoOptions options;
  options.gamma = config.ppo_gamma;
  options.lambda = config.ppo_lambda;
  options.clip = config.ppo_clip;
  options.learning_rate = config.ppo_lr;
  options.epochs = static_cast<int>(config.ppo_epochs);
  options.minibatch = static_cast<int>(config.ppo_minibatch);
  options.entropy = config.ppo_entropy;
  options.value_weight = config.ppo_value_weight;
  options.value_clip = config.ppo_value_clip;
  options.max_grad_norm = config.ppo_max_grad_norm;
  options.target_kl = config.ppo_target_kl;
  options.normalize_advantages = config.ppo_normalize_advantages;
  return options;
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

int32_t latent_features(const RunConfig& config) {
  return has_world_model(config) ? static_cast<int32_t>(config.gnn_width + config.wm_hidden) : 0;
}

bool dreams_on(const RunConfig& config, int rank, int ranks) {
  if (config.dream_actors == 0) return false;
  return rank >= ranks - config.dream_actors;
}

Player make_player(const RunConfig& config, std::unique_ptr<mdp::BatchEnv> real, bool dreams) {
  Player player;
  player.dreams = dreams;
  if (config.agent == "random") {
    player.policy = std::make_unique<actors::RandomPolicy>();
  } else if (config.agent == "model-free") {
    player.policy = std::make_unique<actors::NetworkPolicy>(make_network(config, real->spec()).ptr());
  } else if (has_world_model(config)) {
    const auto dreamer = make_dreamer(config, real->spec(), torch::kCPU);
    player.policy = std::make_unique<actors::DreamerPolicy>(dreamer);
    if (dreams) {
      player.envs = std::make_unique<actors::DreamEnv>(dreamer, dream_options(config));
      player.ready = [dreamer] { return dreamer->may_dream; };
    } else {
      player.envs = std::make_unique<actors::LatentEnv>(std::move(real), dreamer);
    }
    return player;
  } else {
    fail("unknown agent '{}'", config.agent);
  }
  player.envs = std::move(real);
  return player;
}

Brain make_brain(const BrainInput& in) {
  const auto& config = in.config;
  if (config.agent == "random")
    return {std::make_shared<learner::NoAlgorithm>(), [](learner::Checkpoint&) {}, [](const learner::Checkpoint&) {},
            [](const std::shared_ptr<learner::LearnerGroup>&) {}};
  if (config.agent == "model-free") return ppo_brain(config, in.spec, in.device);
  if (has_world_model(config)) return dream_brain(in);
  fail("unknown agent '{}'", config.agent);
}

uint64_t digest(const Brain& brain) {
  learner::Checkpoint c;
  brain.store(c);
  std::erase_if(c.tensors, [](const auto& item) { return item.first.starts_with(kStartsPrefix); });
  const std::string bytes = encode(c);
  return hash_bytes(bytes.data(), bytes.size());
}

}  // namespace rlgo::launch

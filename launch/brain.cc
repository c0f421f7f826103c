#include "launch/brain.h"

#include "actors/network_policy.h"
#include "core/base/error.h"
#include "core/nets/actor_critic.h"
#include "learner/ppo/trainer.h"
#include "learner/ppo_algorithm.h"
#include "learner/torch_tensors.h"
#include "launch/network.h"

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

constexpr const char* kTrainer = "trainer/";

// The trainer and what adapts it to the loop, kept together.
struct Ppo {
  Ppo(nets::ActorCritic network, const learner::PpoOptions& options, uint64_t seed) : trainer(std::move(network), options), algorithm(trainer, seed) {}
  learner::PpoTrainer trainer;
  learner::PpoAlgorithm algorithm;
};

class OwningPpo : public learner::Algorithm {
 public:
  explicit OwningPpo(std::shared_ptr<Ppo> ppo) : ppo_(std::move(ppo)) {}
  std::string weights() override { return ppo_->algorithm.weights(); }
  learner::UpdateReport update(std::vector<mdp::Trajectory> trajectories, const learner::UpdateContext& context) override {
    return ppo_->algorithm.update(std::move(trajectories), context);
  }

 private:
  std::shared_ptr<Ppo> ppo_;
};

Brain ppo_brain(const RunConfig& config, const mdp::ObservationSpec& spec, const exec::Device& device) {
  auto network = make_network(config, spec);
  network->to(to_torch(device));
  auto ppo = std::make_shared<Ppo>(std::move(network), ppo_options(config), static_cast<uint64_t>(config.seed));
  Brain brain;
  brain.algorithm = std::make_unique<OwningPpo>(ppo);
  brain.store = [ppo](learner::Checkpoint& c) {
    learner::store_module(c, kNetworkPrefix, *ppo->trainer.agent());
    for (const auto& [name, tensor] : ppo->trainer.state()) c.tensors[kTrainer + name] = learner::to_data(tensor);
  };
  brain.restore = [ppo](const learner::Checkpoint& c) {
    learner::restore_module(c, kNetworkPrefix, *ppo->trainer.agent());
    const std::string prefix = kTrainer;
    nets::NamedTensors state;
    for (const auto& [name, data] : c.tensors) {
      if (name.starts_with(prefix)) state.emplace_back(name.substr(prefix.size()), learner::to_tensor(data));
    }
    ppo->trainer.load_state(state);
  };
  return brain;
}

}  // namespace

nets::ActorCritic make_network(const RunConfig& config, const mdp::ObservationSpec& spec) {
  return nets::ActorCritic(spec, agent_options(config), static_cast<uint64_t>(config.seed));
}

std::unique_ptr<actors::Policy> make_policy(const RunConfig& config, const mdp::ObservationSpec& spec) {
  if (config.agent == "random") return std::make_unique<actors::RandomPolicy>();
  if (config.agent == "model-free") return std::make_unique<actors::NetworkPolicy>(make_network(config, spec));
  fail("unknown agent '{}'", config.agent);
}

Brain make_brain(const RunConfig& config, const mdp::ObservationSpec& spec, const exec::Device& device) {
  if (config.agent == "random") return {std::make_unique<learner::NoAlgorithm>(), [](learner::Checkpoint&) {}, [](const learner::Checkpoint&) {}};
  if (config.agent == "model-free") return ppo_brain(config, spec, device);
  fail("unknown agent '{}'", config.agent);
}

}  // namespace rlgo::launch

#include "actors/latent_env.h"

#include "core/base/error.h"

namespace rlgo::actors {

using torch::Tensor;

namespace {

Tensor as_floats(const std::vector<int32_t>& counts, torch::Device device) {
  return torch::tensor(counts, torch::kFloat32).unsqueeze(0).to(device);
}

}  // namespace

LatentEnv::LatentEnv(std::unique_ptr<mdp::BatchEnv> real, std::shared_ptr<Dreamer> dreamer)
    : real_(std::move(real)), dreamer_(std::move(dreamer)), slots_(static_cast<size_t>(real_->size())) {
  if (real_->spec().hash() != dreamer_->spec().hash()) fail("the world model was made for another environment");
}

void LatentEnv::look(Slot& slot, mdp::Observation& observation) {
  auto& world = dreamer_->world;
  slot.z = world->standardise(world->encode(nets::collate(observation, spec(), world->device())));
  slot.counts = observation.counts;
  const auto latent = torch::cat({slot.z, slot.memory.h}, 1).to(torch::kCPU).contiguous();
  observation.latent.assign(latent.const_data_ptr<float>(), latent.const_data_ptr<float>() + latent.numel());
}

mdp::Observation LatentEnv::reset(int index, uint64_t key) {
  auto& slot = slots_.at(static_cast<size_t>(index));
  auto observation = real_->reset(index, key);
  slot = {};
  slot.latent = !dreamer_->act_at_random;
  if (slot.latent) {
    c10::InferenceMode inference;
    slot.memory = dreamer_->world->blank(1);
    look(slot, observation);
  }
  return observation;
}

std::vector<mdp::StepResult> LatentEnv::step(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) {
  auto results = real_->step(indices, actions);
  c10::InferenceMode inference;
  auto& world = dreamer_->world;
  for (size_t i = 0; i < indices.size(); ++i) {
    auto& slot = slots_.at(static_cast<size_t>(indices[i]));
    if (!slot.latent || results[i].terminal) continue;
    const auto place = nets::location_features(actions[i], slot.counts, spec().max_locations);
    nets::WorldInput input;
    input.z = slot.z;
    input.counts = as_floats(slot.counts, world->device());
    input.rule = torch::full({1}, int64_t{actions[i].rule}, torch::kInt64).to(world->device());
    input.location = torch::tensor({{place[0], place[1]}}).to(world->device());
    world->step(input, slot.memory);
    look(slot, results[i].observation);
  }
  return results;
}

}  // namespace rlgo::actors

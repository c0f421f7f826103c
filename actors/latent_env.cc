#include "actors/latent_env.h"

#include "core/nets/agent.h"

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
  const auto batch = nets::collate(observation, spec(), world->device());
  const auto encoded = world->encoder()(batch);
  slot.z = world->standardise(encoded.global);
  slot.counts = observation.counts;
  observation.latent = nets::to_floats(world->view(slot.z, slot.memory.h));
  if (!world->options().locations) return;
  const auto places = nets::to_floats(world->places(batch, encoded));
  slot.menu = nets::Menu(observation, places, world->place_width());
  observation.latent.insert(observation.latent.end(), places.begin(), places.end());
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
    const std::vector<int32_t>* counts[] = {&slot.counts};
    const nets::Menu* menus[] = {&slot.menu};
    auto input = world_input(*world, {&actions[i], 1}, counts, menus);
    input.z = slot.z;
    input.counts = as_floats(slot.counts, world->device());
    world->step(input, slot.memory);
    look(slot, results[i].observation);
  }
  return results;
}

}  // namespace rlgo::actors

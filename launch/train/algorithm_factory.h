// The agent of a run, by name: what acts and what learns.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "actors/policy.h"
#include "core/exec/device.h"
#include "core/mdp/mdp.h"
#include "launch/train/config.h"
#include "learner/algorithm.h"

namespace rlgo::launch {

// Who plays on an actor rank, and in what.
struct Player {
  std::unique_ptr<mdp::BatchEnv> envs;  // the real ones, with latents where the agent has a world model, or dreams
  std::unique_ptr<actors::Policy> policy;
  std::function<bool()> ready;  // see actors::ActorOptions
  bool dreams = false;
};
// `real`: real environments. `dreams`: this rank is to dream (see dreams_on). `device`: of a model-free policy.
Player make_player(const RunConfig& config, std::unique_ptr<mdp::BatchEnv> real, bool dreams,
                   const exec::Device& device = {});
// Whether a rank dreams: the last --dream.actors of `ranks`.
bool dreams_on(const RunConfig& config, int rank, int ranks);

// Latent features that the agent adds to observations: 0 without a world model.
int32_t latent_features(const RunConfig& config);
int32_t location_latents(const RunConfig& config);  // ... of each legal location

struct AlgorithmInput {
  const RunConfig& config;
  mdp::ObservationSpec spec;
  exec::Device device;
  mdp::Observation initial;        // what an episode begins with
  std::filesystem::path rollouts;  // the run's own store
};
// What learns, by --agent. Its first weights depend on the seed alone.
std::shared_ptr<learner::Algorithm> make_algorithm(const AlgorithmInput& input);

}  // namespace rlgo::launch

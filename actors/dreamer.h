// What an agent with a world model carries between ranks: the model, its controller, where dreams begin, and how it is
// to act. All ranks hold a copy that the learner's messages refresh in place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/policy.h"
#include "core/nets/latent_agent.h"
#include "core/nets/menu.h"
#include "core/nets/world_model.h"

namespace rlgo::actors {

// States from which dreams begin, M of them: standardised latents [M, Z], memory [M, H] each, legal locations [M, X],
// and where the world model sees locations, those [M].
struct DreamStarts {
  torch::Tensor z, h, c, counts;
  std::vector<nets::Menu> menus = {};
  int64_t size() const { return z.defined() ? z.size(0) : 0; }
};

// What a world model receives of actions [B] on states with these counts and, where it sees locations, these lists; z
// and counts are left to the caller. Throws Error where an action is not legal.
nets::WorldInput world_input(const nets::WorldModelImpl& world, std::span<const mdp::Action> actions,
                             std::span<const std::vector<int32_t>* const> counts,
                             std::span<const nets::Menu* const> menus);

struct Dreamer {
  // Networks on `device`; initial weights depend on the seed alone. `random_stops`: see RandomPolicy.
  Dreamer(const mdp::ObservationSpec& spec, const nets::WorldOptions& world, const nets::LatentAgentOptions& agent,
          uint64_t seed, torch::Device device = torch::kCPU, bool random_stops = true);

  const mdp::ObservationSpec& spec() const { return world->spec(); }  // with the latent features

  nets::WorldModel world;
  nets::LatentAgent agent;
  DreamStarts starts;
  const bool random_stops;
  bool act_at_random = true;  // the controller knows nothing yet: uniform over legal actions, no latents are computed
  bool may_dream = false;     // the world model is good enough to learn from

  std::string pack() const;  // all of it as bytes, for weights messages
  // Throws Error, and leaves the networks as they were, where the bytes come from another dreamer.
  void unpack(std::string_view bytes);
};

// Acts by the controller, or at random where the dreamer reports so.
class DreamerPolicy : public Policy {
 public:
  explicit DreamerPolicy(std::shared_ptr<Dreamer> dreamer, int64_t version = 0);
  std::vector<Decision> act(std::span<const mdp::Observation* const> observations, std::span<Rng* const> rngs) override;
  std::vector<float> value(std::span<const mdp::Observation* const> observations) override;
  bool values_together() const override { return controller_->values_together(); }
  int64_t version() const override { return dreamer_->act_at_random ? -1 : version_; }
  void load(std::string_view weights, int64_t version) override;

 private:
  std::shared_ptr<Dreamer> dreamer_;
  std::unique_ptr<Policy> controller_;
  RandomPolicy random_;
  int64_t version_;
};

}  // namespace rlgo::actors

// Real environments with the world model's view added: observations carry [z, h].
#pragma once

#include <memory>
#include <vector>

#include "actors/dreamer.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

class LatentEnv : public mdp::BatchEnv {
 public:
  // A real state as the world model sees it.
  struct State {
    torch::Tensor z;  // [1, Z]
    nets::Memory memory;
    std::vector<int32_t> counts;
    nets::Menu menu;  // where the world model sees locations
  };
  // `real` and the dreamer's networks live at least as long as this.
  LatentEnv(std::unique_ptr<mdp::BatchEnv> real, std::shared_ptr<Dreamer> dreamer);

  const mdp::ObservationSpec& spec() const override { return dreamer_->spec(); }
  int size() const override { return real_->size(); }
  // While the dreamer acts at random, episodes begin (and continue) without latents: nothing would read them.
  mdp::Observation reset(int index, uint64_t key) override;
  std::vector<mdp::StepResult> step(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) override;
  double initial_cost_us(int index) const override { return real_->initial_cost_us(index); }
  mdp::Beginning beginning(int index) const override { return real_->beginning(index); }
  // Of the current observation of an episode with latents; after a terminal step: of the one before.
  const State& state(int index) const { return slots_.at(static_cast<size_t>(index)); }

 private:
  struct Slot : State {
    bool latent = false;
  };
  void look(Slot& slot, mdp::Observation& observation);

  std::unique_ptr<mdp::BatchEnv> real_;
  std::shared_ptr<Dreamer> dreamer_;
  std::vector<Slot> slots_;
};

}  // namespace rlgo::actors

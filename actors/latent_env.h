// Real environments with the world model's view added: observations carry [z, h].
#pragma once

#include <memory>
#include <vector>

#include "actors/dreamer.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

class LatentEnv : public mdp::BatchEnv {
 public:
  // `real` and the dreamer's networks live at least as long as this.
  LatentEnv(std::unique_ptr<mdp::BatchEnv> real, std::shared_ptr<Dreamer> dreamer);

  const mdp::ObservationSpec& spec() const override { return dreamer_->spec(); }
  int size() const override { return real_->size(); }
  // While the dreamer acts at random, episodes begin (and continue) without latents: nothing would read them.
  mdp::Observation reset(int index, uint64_t key) override;
  std::vector<mdp::StepResult> step(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) override;
  double initial_cost_us(int index) const override { return real_->initial_cost_us(index); }
  mdp::Beginning beginning(int index) const override { return real_->beginning(index); }

 private:
  struct Slot {
    bool latent = false;
    torch::Tensor z;  // [1, Z] of the current observation
    nets::Memory memory;
    std::vector<int32_t> counts;
    nets::Menu menu;  // where the world model sees locations
  };
  void look(Slot& slot, mdp::Observation& observation);

  std::unique_ptr<mdp::BatchEnv> real_;
  std::shared_ptr<Dreamer> dreamer_;
  std::vector<Slot> slots_;
};

}  // namespace rlgo::actors

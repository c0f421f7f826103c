// The dream: the world model in place of the environment (RLFlow, Parker et al. 2022). Never touches a graph.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "actors/dream_options.h"
#include "actors/dreamer.h"
#include "core/base/rng.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

// Observations are dreamed ones: latent [z, h] and counts. Legal actions come from the predicted counts; an episode
// ends by NO-OP, when nothing is legal any more, or when the terminal head says so (drawn; at temperature 0 where
// likelier). Everything depends on the key of reset, the networks, and the company in a batch only by rounding.
class DreamEnv : public mdp::BatchEnv {
 public:
  DreamEnv(std::shared_ptr<Dreamer> dreamer, DreamOptions options);

  const mdp::ObservationSpec& spec() const override { return dreamer_->spec(); }
  int size() const override { return options_.batch; }
  // Begins at one of the dreamer's starts; throws Error where there is none.
  mdp::Observation reset(int index, uint64_t key) override;
  std::vector<mdp::StepResult> step(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) override;
  const DreamOptions& options() const { return options_; }

 private:
  struct Draws {
    torch::Tensor uniforms, normals;  // [B, Z]
    std::vector<double> terminal;     // [B]
  };
  Draws draw(const std::vector<int>& indices);
  torch::Tensor rewards(const nets::Prediction& prediction) const;
  mdp::StepResult result(int index, mdp::Action action, const float* latent, const float* counts, double reward,
                         double p_end, double luck);

  std::shared_ptr<Dreamer> dreamer_;
  DreamOptions options_;
  torch::Tensor z_, h_, c_, counts_;         // [batch, ...]
  std::vector<std::vector<int32_t>> legal_;  // counts_ as whole numbers
  std::vector<int> steps_;
  std::vector<Rng> rngs_;
};

}  // namespace rlgo::actors

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

// Observations are dreamed ones: latent (WorldModel::view, and of each location) and counts. Legal actions come from
// the predicted counts; an episode ends by NO-OP, when nothing is legal any more, or when the terminal head reports so
// (drawn; at temperature 0 where likelier). Everything depends on the key of reset, the networks, and the company in a
// batch only by rounding.
class DreamEnv final : public mdp::BatchEnv {
 public:
  DreamEnv(std::shared_ptr<Dreamer> dreamer, DreamOptions options);

  const mdp::ObservationSpec& spec() const override { return dreamer_->spec(); }
  int size() const override { return options_.batch; }
  // Begins at one of the dreamer's starts; throws Error where there is none.
  mdp::Observation reset(int index, uint64_t key) override;
  // The same at a given start, in [0, the dreamer's starts).
  mdp::Observation begin(int index, uint64_t key, int64_t start);
  std::vector<mdp::StepResult> step(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) override;
  const DreamOptions& options() const { return options_; }

 private:
  struct Draws {
    torch::Tensor uniforms, normals;  // [B, Z]
    std::vector<double> terminal;     // [B]
  };
  Draws draw(const std::vector<int>& indices);
  torch::Tensor rewards(const nets::Prediction& prediction, const torch::Tensor& rule) const;
  void change_menus(const std::vector<int>& indices, const std::vector<mdp::Action>& actions,
                    const nets::WorldInput& input, const nets::Prediction& prediction);
  torch::Tensor counts_of(const std::vector<int>& indices) const;
  void see(mdp::Observation& observation, size_t i, const float* view) const;
  mdp::StepResult result(int index, mdp::Action action, const float* view, double reward, double p_end, double luck);

  std::shared_ptr<Dreamer> dreamer_;
  DreamOptions options_;
  torch::Tensor z_, h_, c_, counts_;         // [batch, ...]
  std::vector<std::vector<int32_t>> legal_;  // counts_ as whole numbers
  std::vector<nets::Menu> menus_;            // where the world model sees locations
  std::vector<int> steps_;
  std::vector<Rng> rngs_;
};

}  // namespace rlgo::actors

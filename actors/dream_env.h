// The dream: the world model in place of the environment (RLFlow, Parker et al. 2022). Never touches a graph.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "actors/collector.h"
#include "actors/dream_options.h"
#include "actors/dreamer.h"
#include "actors/latent_env.h"
#include "core/base/rng.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

// Which parts of a dream's steps come from real environments that take the same actions. The wrong part of a dream is
// the one whose truth closes the gap to reality; with all three a dream is a real episode.
struct Truth {
  bool reward = false;
  bool masks = false;  // the legal actions and the ends; where the world model sees locations, the whole list of them
  bool state = false;  // the latent of the graph
};

// The real environments next to dreams, one each.
struct Twin {
  std::shared_ptr<LatentEnv> real;
  Truth truth;
  int prefix = 0;  // random rewrites before a dream begins, >= 0
};

// How far dreams are from the real environments next to them, over all steps before either has ended.
struct Apart {
  int64_t steps = 0;
  int64_t illegal = 0;  // actions that reality does not offer: nothing changes there, for a reward of 0
  int64_t states = 0;   // after steps that did not end the real episode:
  int64_t rules = 0;    // ... rules that are legal in the dream or in reality, summed,
  int64_t wrong = 0;    // ... those with another number of locations,
  double distance = 0;  // ... of the latents, root mean square in standardised units, summed
};

// Observations are dreamed ones: latent (WorldModel::view, and of each location) and counts. Legal actions come from
// the predicted counts; an episode ends by NO-OP, when nothing is legal any more, or when the terminal head reports so
// (drawn; at temperature 0 where likelier). Everything depends on the key of reset, the networks, and the company in a
// batch only by rounding.
class DreamEnv final : public mdp::BatchEnv, public BeginsTogether {
 public:
  // With a twin, dreams begin where the real environments are after its prefix, not at the dreamer's starts.
  DreamEnv(std::shared_ptr<Dreamer> dreamer, DreamOptions options, Twin twin = {});

  const mdp::ObservationSpec& spec() const override { return dreamer_->spec(); }
  int size() const override { return options_.batch; }
  // Begins at one of the dreamer's starts; throws Error where there is none.
  mdp::Observation reset(int index, uint64_t key) override;
  std::vector<mdp::Observation> reset_together(const std::vector<int>& indices,
                                               const std::vector<uint64_t>& keys) override;
  // The same at a given start, in [0, the dreamer's starts).
  mdp::Observation begin(int index, uint64_t key, int64_t start);
  std::vector<mdp::StepResult> step(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) override;
  const DreamOptions& options() const { return options_; }
  // With real environments next to it: how far apart, and the sum of the rewards of a dream's prefix.
  const Apart& apart() const { return apart_; }
  double prefix_reward(int index) const { return lives_.at(static_cast<size_t>(index)).before; }

 private:
  // A real environment next to a dream.
  struct Life {
    bool over = false;
    double before = 0;  // rewards of the prefix
    float reward = 0;   // of the last step
  };
  struct Draws {
    torch::Tensor uniforms, normals;  // [B, Z]
    std::vector<double> terminal;     // [B]
  };
  Draws draw(const std::vector<int>& indices);
  mdp::Observation begin_with_twin(int index, uint64_t key);
  int64_t drawn_start(uint64_t key) const;
  std::vector<mdp::Observation> begin_at(const std::vector<int>& indices, const std::vector<uint64_t>& keys,
                                         const std::vector<int64_t>& starts);
  mdp::Observation seen_at(int index);
  std::optional<mdp::Action> real_action(int index, mdp::Action action) const;
  void step_twin(const std::vector<int>& indices, const std::vector<mdp::Action>& actions);
  void compare(int index, const torch::Tensor& z);
  void state_truth(const std::vector<int>& indices, torch::Tensor& z);
  nets::WorldInput input_of(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) const;
  torch::Tensor rewards(const nets::Prediction& prediction, const torch::Tensor& rule) const;
  void change_menus(const std::vector<int>& indices, const std::vector<mdp::Action>& actions,
                    const nets::WorldInput& input, const nets::Prediction& prediction);
  void take_counts(const std::vector<int>& indices, const std::vector<float>& counts);  // predicted, [rows, X]
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
  Twin twin_;
  std::vector<Life> lives_;
  Apart apart_;
};

}  // namespace rlgo::actors

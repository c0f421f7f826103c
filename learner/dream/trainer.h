// Trains the world model on whole trajectories (RLFlow, Parker et al. 2022; Ha and Schmidhuber 2018).
#pragma once

#include <torch/optim/adam.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/mdp/mdp.h"
#include "core/nets/world_model.h"
#include "learner/checkpoint.h"
#include "learner/distributed/gradients.h"
#include "learner/distributed/learner_group.h"
#include "learner/dream/options.h"
#include "learner/dream/sequences.h"

namespace rlgo::learner {

inline constexpr double kMinLatentDeviation = 0.1;

// How well a model predicts episodes that it did not see. Latents standardised, rewards in their own units.
struct WorldScore {
  int64_t steps = 0;
  double nll = 0;                // nats per latent dimension and step
  double nll_no_change = 0;      // of "nothing changes", with the deviation of the changes seen in training
  double nll_unconditional = 0;  // of a standard normal: the latents' own distribution
  double reward_mse = 0, reward_correlation = 0;
  double terminal_f1 = 0, mask_f1 = 0;  // 1: perfect; 1 too where there is nothing to find and nothing was found
  double counts_exact = 0;              // fraction of legal rules whose number of locations is right
  // Open loop: own predictions (temperature 0) fed back, the episode's actions, described as the real episode has them
  // (WorldInput::place). After h steps, over the episodes that are that long; NaN where none is.
  static constexpr int64_t kHorizons[] = {1, 5, 10, 20, 40};
  static constexpr size_t kReach = std::size(kHorizons);
  double drift[kReach] = {};         // root mean square error of the latent per dimension
  double drift_reward[kReach] = {};  // root mean square error of the sum of rewards so far, percent
  double exact[kReach] = {};         // fraction of legal rules whose number of locations is right
};

struct WorldStats {
  int64_t episodes = 0, steps = 0, held_out = 0, minibatches = 0, skipped = 0;  // skipped: gradients not finite
  double loss = 0, latent = 0, reward = 0, terminal = 0, present = 0, count = 0, members = 0, variance = 0;
  double gone = 0, come = 0;                                      // of the list of locations; 0 without
  double grad_norm = 0, learning_rate = 0, latent_deviation = 0;  // smallest deviation of a raw latent dimension
  WorldScore score;  // of the held-out episodes, before the update; steps 0 where there were none
  std::vector<std::pair<std::string, double>> named() const;  // "wm_loss", ...; always the same, NaN where unknown
};

class WorldTrainer {  // of one world model
 public:
  WorldTrainer(nets::WorldModel model, WorldTrainerOptions options, uint64_t seed);

  // `progress` in [0, 1] sets the learning rate; `between` is called after each minibatch. Trajectories must carry
  // whole observations. Throws Error where a trajectory does not fit the model.
  //
  // Several learners give their parts of the trajectories and all get what one learner would with the whole of them
  // (see PpoTrainer::update): minibatches, means and statistics run over the steps of all. Held-out episodes are for
  // the head; others leave theirs out (is_held_out shows). All get its score's reward_correlation and steps.
  WorldStats update(std::span<const mdp::Trajectory* const> trajectories, double progress, Rng& shuffle,
                    const std::function<void()>& between = {});
  // What is clipped to its range (WorldModel::clip_reward, clip_latent).
  struct Clips {
    bool reward = false, latent = false;
  };
  // Without learning.
  WorldScore score(std::span<const mdp::Trajectory* const> trajectories, Clips clips);
  // The same without clips.
  WorldScore score(std::span<const mdp::Trajectory* const> trajectories) { return score(trajectories, {}); }
  // Who learns along. At first: nobody.
  void set_group(std::shared_ptr<LearnerGroup> group);
  nets::WorldModel& model() { return model_; }
  const WorldTrainerOptions& options() const { return options_; }

  void store(Checkpoint& checkpoint, const std::string& prefix) const;    // weights, optimiser, counters
  void restore(const Checkpoint& checkpoint, const std::string& prefix);  // what store() wrote

  // What the model as it is makes of an episode of T steps. Raw latents [T+1, Z]; features of the locations of each
  // observation [L, F] on the CPU, and what actions did to them, where the model sees locations.
  struct View {
    torch::Tensor raw, raw_on_host;
    std::vector<torch::Tensor> features;
    EpisodePlaces places;
  };
  using Views = std::map<const mdp::Trajectory*, View>;
  // The views of these episodes.
  Views look(std::span<const mdp::Trajectory* const> episodes);
  // Side by side, with what the views know.
  Sequences sequences(std::span<const mdp::Trajectory* const> episodes, const Views& views, int64_t steps = 0) const;

  // Raw latents [steps, B, Z] of observations [begin, end) of sequences; 0 where there is none.
  torch::Tensor encode(const Sequences& s, int64_t begin, int64_t end, nets::Encoder& encoder, bool gradients) const;

 private:
  struct Latents;
  struct Sums;
  torch::Tensor encode_all(std::span<const mdp::Observation* const> seen, nets::Encoder& encoder, bool gradients) const;
  Latents latents(const Sequences& s, const torch::Tensor& raw, int64_t begin, int64_t end);
  struct Batch;
  WorldScore score_at_head(std::span<const mdp::Trajectory* const> unseen);
  struct Course;
  // Reads the course alone, and no weights: may run next to learn(). Nothing behind the last.
  std::optional<Batch> next_batch(Course& course) const;
  void make_batch(Batch& batch, const Views& views) const;
  void add_latents(Batch& batch, const Views& views) const;
  void learn(Batch& batch, Sums& sums);
  void step(Sums& sums);
  // The same where the host need not look at each chunk.
  void step_there(Sums& sums);
  torch::Tensor own_loss(const Batch& batch, int64_t begin, int64_t end, nets::Memory& memory, Sums& sums);
  struct Weights;
  struct CountLosses;
  CountLosses count_losses(const Batch& batch, int64_t begin, int64_t end, const nets::Prediction& p,
                           const nets::WorldInput& input, const Weights& w);
  void observe_ranges(const Batch& batch);
  Weights weights(const Batch& batch, const Latents& l, const torch::Tensor& counts_for, int64_t begin,
                  int64_t end) const;
  torch::Tensor coins(const Batch& batch, int64_t begin, int64_t end, const Sums& sums) const;
  void observe(Batch& batch);
  void end(Sums& sums);
  torch::ScalarType type() const { return parameters_[0].scalar_type(); }
  // taken: [] float64, 1 or, for a step that was not, 0; undefined: one that was.
  void follow_encoder(const torch::Tensor& taken = {});
  void drift(const Sequences& s, const torch::Tensor& z, Clips clips, WorldScore& score);

  nets::WorldModel model_;
  WorldTrainerOptions options_;
  nets::Encoder target_{nullptr};  // train_encoder: the slow copy
  std::vector<torch::Tensor> parameters_;
  torch::optim::Adam adam_;
  std::shared_ptr<LearnerGroup> group_;
  std::unique_ptr<GradientSum> gradients_;
  uint64_t seed_;
  int64_t updates_ = 0;
  // Decaying sums [weight, sum, sum of squares]; of latents and their changes [3, Z], of rewards [3].
  torch::Tensor z_sums_, change_sums_, reward_sums_;
  torch::Tensor range_low_, range_high_;  // [Z + X + 1] of raw latents, and of rewards by rule; float64
};

// Where each of them lies.
std::vector<const mdp::Trajectory*> pointers(const std::vector<mdp::Trajectory>& all);

// Whether an episode is kept for measuring: by its name alone.
bool is_held_out(const mdp::Trajectory& trajectory, double fraction);

// 2 P R / (P + R) from counts; 1 where there is nothing to find and nothing was found.
double f1(double hits, double found, double wanted);
// Pearson's; 0 where either is constant.
double correlation(const torch::Tensor& a, const torch::Tensor& b);

}  // namespace rlgo::learner

// Proximal policy optimisation (Schulman et al. 2017, Algorithm 1): K epochs of minibatch Adam on whole trajectories,
// for hierarchical agents. Decoupled (Hilton et al. 2022, "Batch size-invariance for policy optimization", equation 3):
// clip and KL look at the weights that the update starts from; data of older weights is weighted by how much more
// likely its actions have become.
#pragma once

#include <torch/optim/adam.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/mdp/mdp.h"
#include "core/nets/agent.h"
#include "core/nets/weights.h"
#include "learner/distributed/gradients.h"
#include "learner/distributed/learner_group.h"
#include "learner/ppo/options.h"

namespace rlgo::learner {

class LossInputs;
class Pass;
struct Transitions;

// Means over the minibatches of an update, unless stated otherwise.
struct UpdateStats {
  int64_t transitions = 0, minibatches = 0, skipped = 0;            // skipped: gradients were not finite, no step taken
  bool early_stop = false;                                          // by target_kl
  double policy_loss = 0, value_loss = 0, location_value_loss = 0;  // value losses in units of the value scale squared
  double entropy_rule = 0, entropy_location = 0;                    // nats
  double approx_kl = 0, clip_fraction = 0;
  double last_kl = 0;              // of the last minibatch
  double grad_norm = 0;            // before clipping
  double ratio_deviation = 0;      // max |ratio - 1| of the first minibatch: 0 on fresh data, up to rounding
  double explained_variance = 0;   // of the behaviour policy's values, over all transitions
  double return_mean = 0;          // lambda-return over all transitions, units of reward
  double advantage_deviation = 0;  // before normalisation
  double value_shift = 0, value_scale = 1, learning_rate = 0;
  // ("policy_loss", 0.1), ...: always the same names in the same order.
  std::vector<std::pair<std::string, double>> named() const;
};

class PpoTrainer {  // Schulman et al. 2017
 public:
  // Trains `agent` in place; the network is shared with the caller and stays on its device.
  PpoTrainer(nets::Agent agent, PpoOptions options);

  // One update from complete trajectories. `shuffle` orders the minibatches; `between` is called after each, and
  // between the steps of what comes before them. Throws Error where a trajectory does not fit the network (spec,
  // illegal action, numbers that are not finite), where data of the current weights version does not reproduce its own
  // log-probabilities (on a GPU after its first pass), and where no minibatch gave finite gradients. No trajectory, or
  // only empty ones: nothing happens, transitions is 0.
  //
  // Several learners give their parts of the data and all get what one learner would with the whole of it (the parts
  // one after the other, by place), up to rounding: advantages, returns and the means of every loss run over all
  // transitions; each minibatch is drawn from all of them, and each learner takes the part of it that it holds, perhaps
  // none. `shuffle` must be the same everywhere. The stats are the same everywhere.
  UpdateStats update(const std::vector<mdp::Trajectory>& trajectories, Rng& shuffle,
                     const std::function<void()>& between = {});

  // Who learns along. At first: nobody.
  void set_group(std::shared_ptr<LearnerGroup> group);
  // Version of the weights that the agent has now: where the whole first minibatch carries it, its ratios must be 1.
  void set_weights_version(int64_t version) { version_ = version; }

  const PpoOptions& options() const { return options_; }
  const nets::Agent& agent() const { return agent_; }
  torch::optim::Adam& optimizer() { return adam_; }

  // All that the trainer keeps besides the network, for checkpoints: Adam's moments and step counts, running moments of
  // the returns. load_state throws Error, before any change, on a missing name or another shape.
  nets::NamedTensors state() const;
  void load_state(const nets::NamedTensors& state);

 private:
  struct Sums;
  void find_advantages(Transitions& data, const std::vector<mdp::Trajectory>& trajectories) const;
  void share(Transitions& data) const;
  void find_proximal(Transitions& data, const std::function<void()>& between);
  void update_value_scale(const Transitions& data);
  void check_fresh(const Transitions& data, std::span<const int64_t> chosen, double deviation) const;
  // The parts of minibatches that this learner has, in order; `order`: of all learners' transitions.
  std::vector<std::vector<int64_t>> own_parts(const Transitions& data, const std::vector<int64_t>& order) const;
  // The pass's next minibatch, of which `size` transitions are in all learners' parts. False where target_kl ends the
  // update; then no step was taken.
  bool train(const Transitions& data, const LossInputs& inputs, Pass& pass, int64_t size, bool first, Sums& sums);
  struct Minibatch;
  Minibatch evaluate(const LossInputs& inputs, Pass& pass, int64_t size, bool first);
  void step(Sums& sums);
  void end(const Transitions& data, Sums& sums) const;
  // Where the host looks at a pass, not at each of its minibatches (trainer_there.cc).
  struct SumsThere;
  SumsThere start_there() const;
  void train_there(Minibatch& minibatch, bool first, SumsThere& there);
  void read(const SumsThere& there, bool first, Sums& sums);

  nets::Agent agent_;
  PpoOptions options_;
  torch::optim::Adam adam_;
  std::shared_ptr<LearnerGroup> group_;
  std::unique_ptr<GradientSum> gradients_;
  std::optional<int64_t> version_;
  double scale_ = 1;                                                // of values; of the last update
  double return_mean_ = 0, return_square_ = 0, return_weight_ = 0;  // decaying sums; divide by the weight
};

}  // namespace rlgo::learner

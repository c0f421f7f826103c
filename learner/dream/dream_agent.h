// Agents with a world model (RLFlow, Parker et al. 2022): what happens in each epoch.
//   model-based: random play trains the world model; then the controller trains in its dream alone, with evaluations in
//     the real environment in between and at the end, from which the model learns too (--wm.on-policy). Where one finds
//     that dreams do not keep their promise (--dream.guard), the controller plays real episodes in place of dreams
//     until the next one, and the model learns from these.
//   hybrid: real play of the controller trains controller and model together; once the model predicts rewards well
//     enough, and dreams keep their promise, dreams that branch from real states train the controller too.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/dream_env.h"
#include "actors/dreamer.h"
#include "learner/algorithm.h"
#include "learner/checkpoint.h"
#include "learner/decoder.h"
#include "learner/distributed/learner_group.h"
#include "learner/dream/cma_es.h"
#include "learner/dream/evaluation.h"
#include "learner/dream/options.h"
#include "learner/dream/swaps.h"
#include "learner/dream/trainer.h"
#include "learner/ppo/trainer.h"
#include "replay/sampler.h"

namespace rlgo::learner {

// Of the actors' side.
std::shared_ptr<actors::Dreamer> make_dreamer(const DreamAgentOptions& options, const mdp::ObservationSpec& spec,
                                              uint64_t seed, torch::Device device);

// What the agent is made of.
struct DreamAgentInput {
  DreamAgentOptions options;
  PpoOptions ppo;
  mdp::ObservationSpec spec;
  torch::Device device;
  uint64_t seed = 0;
  int64_t epochs = 0;              // of the run: the last one evaluates
  int episode_steps = 200;         // longest real episode
  mdp::Observation initial;        // what an episode begins with
  std::filesystem::path rollouts;  // the run's own store, for WorldData::store
  // Networks that lie on their device already; null: make_dreamer() makes them.
  std::shared_ptr<actors::Dreamer> dreamer = nullptr;
};

class DreamAgent : public Algorithm {  // world model and controller
 public:
  // Reads the encoder of a model-free run where EncoderSource::ppo asks for it; throws Error where it does not fit.
  explicit DreamAgent(const DreamAgentInput& input);

  EpochPlan plan(int64_t epoch, double progress, int64_t steps) override;
  std::string weights() override { return dreamer_->pack(); }
  std::string final_weights() override;  // dreams begin at the unmodified graph
  // Where a thread decodes, next to a GPU; on the CPU update() does.
  void prepare(const Episode& episode) override;
  UpdateReport update(std::vector<Episode> episodes, const UpdateContext& context) override;
  void store(Checkpoint& checkpoint) const override;
  void restore(const Checkpoint& checkpoint) override;
  // How well the model predicts episodes that its controller has played.
  WorldCheck check(std::span<const mdp::Trajectory* const> episodes, uint64_t key) {
    return check_world(*dreamer_, world_, episodes, options_.dream, key);
  }
  // Which part of its dreams is wrong, with the weights as at the end of the run.
  SwapCheck swaps(std::unique_ptr<mdp::BatchEnv> real, int prefix, const std::vector<int>& horizons, uint64_t key) {
    final_weights();
    return swap_truths(dreamer_, std::move(real), options_.dream, prefix, horizons, key);
  }
  // The head hands out trajectories, measures, and compares dreams with the real thing; each learner dreams its part of
  // the dreams, from starts of its own.
  void set_group(const std::shared_ptr<LearnerGroup>& group) override;

 private:
  enum class Phase : uint8_t { collect, dream, evaluate, hybrid };
  bool hybrid() const { return options_.hybrid; }
  void train_encoder(const std::vector<mdp::Trajectory>& real, const UpdateContext& context, UpdateReport& report);
  void train_world(const std::vector<mdp::Trajectory>& real, const UpdateContext& context, double progress,
                   UpdateReport& report);
  void train_controller(std::vector<mdp::Trajectory> trajectories, const UpdateContext& context, uint64_t purpose,
                        UpdateReport& report);
  // A generation of the linear controller. Returns the dreams of all candidates.
  std::vector<mdp::Trajectory> evolve(const UpdateContext& context);
  std::vector<mdp::Trajectory> dream(int64_t steps, int max_steps, int64_t version, uint64_t key, int64_t episodes);
  bool is_head() const { return group_->place() == 0; }
  // This learner's part of so many steps.
  int64_t own_part(int64_t all) const {
    return all * (group_->place() + 1) / group_->size() - all * group_->place() / group_->size();
  }
  std::vector<mdp::Trajectory> hand_out(std::vector<mdp::Trajectory> trajectories) const;
  void begin_at_start();  // dreams begin at the unmodified graph
  void choose_starts(const std::vector<mdp::Trajectory>& real);
  void begin_at_replayed(const std::vector<mdp::Trajectory>& real);
  void compare_returns(const std::vector<mdp::Trajectory>& real, const UpdateContext& context, UpdateReport& report);
  void weigh_promise(const std::vector<mdp::Trajectory>& real, const UpdateContext& context, UpdateReport& report);
  void add_hybrid(std::vector<mdp::Trajectory> trajectories, const UpdateContext& context, UpdateReport& report);

  DreamAgentOptions options_;
  uint64_t seed_;
  int64_t epochs_;
  std::shared_ptr<actors::Dreamer> dreamer_;
  WorldTrainer world_;
  PpoTrainer ppo_;
  std::optional<SeparableCma> cma_;  // of a linear controller, in place of ppo_
  std::shared_ptr<LearnerGroup> group_ = std::make_shared<LearnerGroup>();
  Decoder decoder_;
  mdp::Observation initial_;
  std::filesystem::path rollouts_;
  int episode_steps_;
  Phase phase_ = Phase::collect;
  int64_t first_dream_epoch_ = -1;          // model-based: the first after random play; -1: not yet
  bool trusted_ = true;                     // dreams kept their promise when they were measured last
  int64_t refused_ = 0;                     // epochs of dreaming that did not take place
  double reward_correlation_ = 0;           // running, on held-out episodes; hybrid's gate
  std::optional<replay::Sampler> sampler_;  // of the store, once it was needed
  std::set<std::string> broken_parts_;      // of the store, reported already
};

}  // namespace rlgo::learner

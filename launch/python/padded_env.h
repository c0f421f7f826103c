// Rewrite environments as Gymnasium wants them: arrays of fixed sizes, a numbered list of candidates, and many
// environments stepped by threads. Knows nothing of Python.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/env/rewrite_env.h"
#include "core/mdp/mdp.h"

namespace rlgo::python {

// Sizes of the arrays of an observation.
struct Room {
  int nodes = 0;       // >= 1, constants not counted
  int edges = 0;       // >= 1
  int candidates = 0;  // >= 1, NO-OP not counted
};

// One observation's places in the caller's arrays. What is not filled is -1 in indices, 0 in numbers and masks.
struct Arrays {
  int32_t* node_op = nullptr;     // [nodes] operator ids
  float* node_feat = nullptr;     // [nodes, node_features]
  int32_t* edges = nullptr;       // [edges, 2] producing node, reading node
  float* edge_feat = nullptr;     // [edges, edge_features]
  float* globals = nullptr;       // [global_features]
  int32_t* candidates = nullptr;  // [candidates, 3] rule, location, node of the matched root (-1: cut off)
  float* change = nullptr;        // [candidates] of the cost by the rewrite, percent of the unmodified graph's
  int8_t* mask = nullptr;         // [candidates + 1] legal actions; the last is NO-OP
};

struct Outcome {
  float reward = 0;
  bool terminal = false, truncated = false;
  bool illegal = false;   // the action was none of the legal ones: nothing was done, but a step was counted
  bool outgrown = false;  // the graph has more nodes or edges than there is room for: the episode is truncated
  bool reset = false;     // the episode had ended: a new one began, the action was not taken
  double cost_us = 0;
  int dropped = 0;   // candidates beyond the room
  std::string rule;  // that was applied, "" for none
};

class PaddedEnv {  // observations of one size, for Gymnasium
 public:
  static constexpr int kChosenByIndex = -1;

  // Room of 0: made from the graph, with space to grow.
  PaddedEnv(std::unique_ptr<env::RewriteEnv> env, env::EnvOptions options, Room room);

  const Room& room() const { return room_; }
  const mdp::ObservationSpec& spec() const { return env_->spec(); }
  const env::RewriteEnv& env() const { return *env_; }
  bool running() const { return running_; }
  // Legal now: (rule, location), in the order of the arrays.
  const std::vector<mdp::Action>& candidates() const { return candidates_; }
  const mdp::Observation& observation() const { return observation_; }
  const std::vector<float>& changes() const { return changes_; }

  Outcome reset(uint64_t key);  // starts the episode of this key
  // candidates().size() .. room().candidates - 1 are illegal, room().candidates is NO-OP. Throws Error where no episode
  // runs.
  Outcome step_index(int64_t index);
  // {rules, any location} is NO-OP.
  Outcome step(mdp::Action action);
  void write(const Arrays& arrays) const;
  std::unique_ptr<PaddedEnv> fork() const;

 private:
  PaddedEnv() = default;
  Outcome illegal();
  void take(mdp::Observation observation);
  void choose_candidates();
  Outcome outcome() const;

  std::unique_ptr<env::RewriteEnv> env_;
  env::EnvOptions options_;
  Room room_;
  mdp::Observation observation_;
  std::vector<mdp::Action> candidates_;
  std::vector<int32_t> rows_;   // of each candidate, its place in observation_.loc_node
  std::vector<float> changes_;  // of each candidate: of the cost, percent of the unmodified graph's
  int steps_ = 0;
  int dropped_ = 0;
  bool running_ = false, outgrown_ = false;
};

// Steps environments side by side. Not thread-safe itself.
class BatchStepper {
 public:
  // threads >= 1: so many at most, the caller's included.
  BatchStepper(std::vector<std::shared_ptr<PaddedEnv>> envs, int threads);
  ~BatchStepper();
  size_t size() const { return envs_.size(); }
  // arrays[k] is written for environment k. Where an episode had ended, a new one begins instead of a step
  // (Gymnasium's AutoresetMode.NEXT_STEP). actions: index of a candidate (location kChosenByIndex), or rule and
  // location.
  std::vector<Outcome> step(std::span<const mdp::Action> actions, std::span<const Arrays> arrays);
  // Those of `which` that are not 0.
  std::vector<Outcome> reset(std::span<const uint8_t> which, std::span<const uint64_t> keys,
                             std::span<const Arrays> arrays);

 private:
  struct Pool;
  std::vector<std::shared_ptr<PaddedEnv>> envs_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace rlgo::python

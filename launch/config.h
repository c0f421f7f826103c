// Everything that a run of `rlgo` (train and its relatives) can be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/env/rewrite_env.h"
#include "core/onnx/onnx.h"
#include "launch/options.h"

namespace rlgo::launch {

struct RunConfig {
  // main
  std::string graph;
  std::vector<std::string> dims;   // NAME=VALUE
  std::vector<std::string> sizes;  // NAME=VALUE, of dimensions that stay open
  std::string agent = "model-free";
  std::vector<std::string> rules;  // files; empty: the shipped ones
  std::string cost = "measured";
  std::string cost_profile = "cpu";  // of analytic costs: a shipped profile or a file
  std::string target = "libtorch";   // or a shipped measurer's name, or a measurer's command line
  std::string target_python;         // runs the shipped measurers; empty: that of set-up, or python3
  std::string costs;                 // table to start from
  int64_t epochs = 30;
  double seconds = 0;  // 0: no limit
  int64_t seed = 0;
  std::string name;  // run folder runs/NAME
  std::string runs = "runs";
  std::string resume;
  std::string device = "auto";
  std::string config;

  // zoo
  int64_t zoo_batch = 1, zoo_layers = 0, zoo_sequence = 0, zoo_image = 0;

  // onnx
  onnx_io::ImportLimits onnx;

  // env
  std::string env_reward = "R1";
  int64_t env_max_locations = 200, env_max_steps = 200;
  double env_weight_flops = 0.1, env_weight_bytes = 0.1, env_weight_peak = 0.1, env_weight_launches = 0.1;

  // gnn, policy
  int64_t gnn_rounds = 3, gnn_width = 64;
  std::string policy_location_head = "pointer";
  double policy_noop_bias = -2;

  // ppo
  double ppo_gamma = 0.95, ppo_lambda = 0.9, ppo_clip = 0.2, ppo_lr = 5e-4, ppo_entropy = 0.01, ppo_value_weight = 0.5,
         ppo_max_grad_norm = 0.5;
  double ppo_target_kl = 0.03, ppo_value_clip = 0;
  int64_t ppo_epochs = 4, ppo_minibatch = 64;
  bool ppo_normalize_advantages = true;

  // world model, dream, hybrid
  std::string encoder = "random", encoder_from, reward_model = "joint", wm_data = "online", wm_store,
              dream_start = "initial";
  double temperature = 1.0, dream_penalty = 0;
  int64_t dream_actors = 0;
  int64_t wm_hidden = 256, wm_mixtures = 8, wm_ensemble = 1, wm_passes = 1, wm_batch = 16, wm_sequence = 64,
          wm_store_steps = 1024;
  double wm_share = 0.5, wm_lr = 1e-3, wm_lr_end = 1e-5, wm_max_grad_norm = 1, wm_holdout = 0.1;
  double wm_reward_weight = 1, wm_terminal_weight = 1, wm_terminal_positive = 1, wm_mask_weight = 1,
         wm_count_weight = 1;
  int64_t dream_batch = 256, dream_steps = 4096, dream_length = 0, dream_width = 128;
  bool dream_scale_noise = true;
  double hybrid_threshold = 0.5, hybrid_real_share = 0.3, hybrid_warmup = 0.1;
  int64_t hybrid_length = 10;
  int64_t evaluate_every = 10;

  // train
  int64_t steps_per_epoch = 512, envs_per_actor = 4, max_lag = 1, min_actors = 1, learners = 1;
  double actor_timeout_s = 120;
  bool reproducible = false;

  // cost
  int64_t cost_warmup = 2, cost_repeats = 9, cost_threads = 1;
  double cost_min_sample_us = 500;
  int64_t cost_explore = 200;

  // store, checkpoints
  bool store = true;
  int64_t store_episodes_per_part = 64;
  double store_seconds_per_part = 10;
  int64_t checkpoint_every = 5, checkpoint_keep = 3;

  // outcome
  bool outcome_polish = true;
  int64_t outcome_repeats = 15, outcome_seeds = 2;
  double outcome_tolerance = 1e-4;
};

// Declares every option of a run on `options`, bound to `config`.
void declare(Options& options, RunConfig& config);
// Checks what single options cannot (a graph is named, learners fit, ...). Throws Error.
void check(const RunConfig& config);
// What depends on the number of ranks. Throws Error.
void check_ranks(const RunConfig& config, int ranks);
// Whether the agent learns a world model.
bool has_world_model(const RunConfig& config);
env::EnvOptions env_options(const RunConfig& config);

}  // namespace rlgo::launch

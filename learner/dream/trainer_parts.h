// What WorldTrainer's own files share.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "learner/dream/trainer.h"

namespace rlgo::learner {

// Episodes side by side, of which this learner has some.
struct WorldTrainer::Batch {
  bool first = false;  // of the first pass: its statistics are not known yet
  std::vector<const mdp::Trajectory*> own;
  std::vector<int64_t> columns;     // their places among all
  int64_t episodes = 0, steps = 0;  // of all: how many, how long the longest is
  Sequences s;                      // of its own, as long as the longest of all; empty where it has none
  Sequences on_device;              // the same for the model
  torch::Tensor raw;                // [T+1, own, Z] latents, where they are needed
  torch::Tensor raw_exact;          // the same on the host in float64, where `first`
};

// The batches of an update, pass after pass.
struct WorldTrainer::Course {
  std::span<const mdp::Trajectory* const> known;  // this learner's episodes
  const LearnerGroup::Gathered& lengths;          // of all learners' episodes
  const Views& views;
  Rng& shuffle;
  std::vector<size_t> order;  // of all learners' episodes, in this pass
  int pass = 0;
  size_t at = 0;  // in `order`
};

// What a mean over this learner's part counts in the mean over all.
struct WorldTrainer::Weights {
  double step = 0, member = 0, count = 0, come = 0;
  double rows = 0;               // real steps of all
  torch::Tensor mean, variance;  // [Z] of their raw latents; train_encoder only
};

// What is lost about the legal locations, weighted as this learner's share.
struct WorldTrainer::CountLosses {
  torch::Tensor present, count, gone, come;
};

// Means over the chunks of an update.
struct WorldTrainer::Sums {
  static constexpr size_t kParts = 10;  // of the loss, itself included
  WorldStats stats;
  int64_t chunks = 0;
  torch::Tensor parts;  // [kParts] float64 where the model is, of this learner
  // Where the host does not look at each chunk: steps taken [] float32, sum of their norms [] float64.
  torch::Tensor taken, norms;
};

// Standardised latents of a chunk of T steps: what the model reads, and what it must predict.
struct WorldTrainer::Latents {
  torch::Tensor input;   // [T, B, Z]
  torch::Tensor target;  // [T, B, Z] without gradient
  torch::Tensor raw;     // [T+1, B, Z]
};

}  // namespace rlgo::learner

// The weights of a model-free agent with a local encoder, as plain arrays: what it takes to use one that is trained.
// core/nets/actor_critic.h defines the network, and trains it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/mdp/mdp.h"

namespace rlgo::agent {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;  // row-major
  bool operator==(const Tensor&) const = default;
};
// By the names that the network's parameters and buffers have.
using Tensors = std::map<std::string, Tensor>;

// What the network is besides its weights; nets::AgentOptions without what only training reads.
struct Shape {
  int rounds = 3;                                      // of message passing, 1..16
  int width = 64;                                      // of all latents, 4..1024
  bool mean_aggregation = false, mean_pooling = true;  // else sums
  bool both_directions = true;
  bool shared = false;  // one set of weights for all rounds
  bool pointer = true;  // locations are scored by their nodes, else by their number
  bool operator==(const Shape&) const = default;
};

// y = x weight + bias.
struct Linear {
  int64_t in = 0, out = 0;
  std::vector<float> weight;  // [in, out]
  std::vector<float> bias;    // [out], or none
};
struct Norm {
  std::vector<float> scale, shift;  // [width]
};
struct Block {
  Linear edge_in, edge_out, node_in, node_out, global_in, global_out, node_parts, global_parts;
  Norm edge_norm, node_norm, global_norm;
};

struct Network {
  // Throws Error naming the tensor that is missing, is of another shape, or is not finite.
  Network(const mdp::ObservationSpec& spec, const Shape& shape, const Tensors& tensors);

  const Block& block(int round) const { return blocks[shape.shared ? 0 : static_cast<size_t>(round - 1)]; }

  mdp::ObservationSpec spec;
  Shape shape;
  // Encoder.
  Linear node_feat, edge_feat, global_feat;
  std::vector<float> op_table;  // [ops, width]
  std::vector<Block> blocks;
  // What the heads read of a node, side by side: its part of the rule head as root and as another node of a match, then
  // the same of the location head (pointer).
  Linear node_heads;
  // Heads.
  float beta = 0;  // weight of a percent that is saved; 0 where locations have no features
  Linear savings;  // [2, width], or empty
  Linear rule_pooled, rule_global, rule_score, noop_hidden, noop_score, location_global, location_score;
  Linear location_index;                          // [1 + location features, width]; pointer
  std::vector<float> rule_table, location_table;  // [rules, width]
  Linear value_hidden, value_out, location_value_hidden, location_value_out;
  std::vector<float> location_value_table;  // [rules + 1, width]
  float value_shift = 0, value_scale = 1;
};

}  // namespace rlgo::agent

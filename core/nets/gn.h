// The graph network encoder: full GN blocks of Battaglia et al. 2018 ("Relational inductive biases, deep learning, and
// graph networks", Algorithm 1). Definitions only; trained by the owner of the parameters.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/normalization.h>

#include <string>
#include <vector>

#include "core/mdp/mdp.h"
#include "core/nets/batch.h"
#include "core/nets/dense.h"
#include "core/nets/neighbour_block.h"
#include "core/nets/options.h"

namespace rlgo::nets {

// One GN block: edges, then nodes, then the global, each x' = LayerNorm(x + phi(inputs)) with phi a two-layer MLP. The
// first layer, over the concatenated inputs, is split by input: W[e, v_r, v_s, u] = W_e e + (W_r v)_r + (W_s v)_s +
// (W_u u), so that products with v and u are done once per node and graph rather than once per edge.
//
// A local block leaves u out of the updates of edges and nodes; u still gathers what they hold, for the heads.
class GnBlockImpl : public torch::nn::Module {
 public:
  GnBlockImpl(const EncoderOptions& options, Rng& rng);
  Encoding forward(const GraphBatch& batch, const Encoding& input);  // one round of message passing
  // Round `round` (from 0) over distinct rows: `input` has those of the round before, the result those of this one.
  // Local blocks only.
  Encoding forward_distinct(const DistinctRows& rows, size_t round, const Encoding& input);

 private:
  torch::Tensor update(const torch::Tensor& x, const torch::Tensor& hidden, Dense& out, torch::nn::LayerNorm& norm);
  torch::Tensor received(const GraphBatch& batch, const torch::Tensor& edges) const;
  torch::Tensor received(const RoundRows& round, const torch::Tensor& edges) const;
  bool local() const { return options_.block == Block::local; }

  EncoderOptions options_;
  Dense edge_in_{nullptr}, edge_out_{nullptr};  // phi^e: own part of the first layer, second layer
  Dense node_in_{nullptr}, node_out_{nullptr};  // phi^v: over the received edges; the node's own part is in node_parts_
  Dense global_in_{nullptr}, global_out_{nullptr};  // phi^u: over pooled nodes and edges
  Dense node_parts_{nullptr};                       // v -> its parts of phi^e (as sender, as receiver) and phi^v
  Dense global_parts_{nullptr};                     // u -> its parts of phi^e, phi^v and phi^u; local: of phi^u
  torch::nn::LayerNorm edge_norm_{nullptr}, node_norm_{nullptr}, global_norm_{nullptr};
};
TORCH_MODULE(GnBlock);

class EncoderImpl : public torch::nn::Module {  // all rounds
 public:
  EncoderImpl(const mdp::ObservationSpec& spec, const EncoderOptions& options, Rng& rng);
  // Differentiable. Where the batch has distinct rows, `nodes` and `edges` are those of the last round.
  Encoding forward(const GraphBatch& batch);
  const EncoderOptions& options() const { return options_; }

 private:
  EncoderOptions options_;
  torch::Tensor columns_;   // of the node features, int64, that a local encoder reads; undefined: all
  torch::Tensor op_table_;  // [ops, width]
  Dense node_feat_{nullptr}, edge_feat_{nullptr}, global_feat_{nullptr};
  std::vector<GnBlock> blocks_;  // one, or one per round; of gcn and gat:
  std::vector<NeighbourBlock> neighbour_blocks_;
};
TORCH_MODULE(Encoder);

// [rows,W]: sum or mean of the x [M,W] with each index [M]; the mean of nothing is 0.
torch::Tensor pool(const torch::Tensor& x, const torch::Tensor& index, int64_t rows, bool mean);

}  // namespace rlgo::nets

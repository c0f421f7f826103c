// Rounds of message passing whose nodes read nodes, not edges: what graph networks (gn.h) are compared with.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/normalization.h>

#include "core/nets/batch.h"
#include "core/nets/dense.h"
#include "core/nets/options.h"

namespace rlgo::nets {

// Who reads whom: each node the sources of its edges, with both_directions also their targets, and itself.
struct Neighbours {
  Neighbours(const GraphBatch& batch, bool both_directions);
  torch::Tensor from, to;  // [M] nodes; `to` is sorted and names every node
  torch::Tensor weight;    // [M, 1] 1 / sqrt(neighbours of `from` x neighbours of `to`)
};

// v'_i = LayerNorm(v_i + relu(sum over neighbours j of a_ij (W v)_j)), then the global as in a GN block, over nodes
// only. gcn: a_ij = Neighbours::weight (Kipf and Welling 2017). gat: a_ij is a softmax over i's neighbours, one for
// each of kAttentionHeads parts of the width (Velickovic et al. 2018). Edges stay as they are.
class NeighbourBlockImpl : public torch::nn::Module {
 public:
  NeighbourBlockImpl(const EncoderOptions& options, Rng& rng);
  // One round.
  Encoding forward(const GraphBatch& batch, const Neighbours& neighbours, const Encoding& input);

 private:
  torch::Tensor attention(const Neighbours& neighbours, const torch::Tensor& mapped) const;  // [M, heads]

  EncoderOptions options_;
  Dense map_{nullptr}, global_in_{nullptr}, global_out_{nullptr};
  torch::Tensor as_source_, as_reader_;  // [heads, width / heads]; gat
  torch::nn::LayerNorm node_norm_{nullptr}, global_norm_{nullptr};
};
TORCH_MODULE(NeighbourBlock);

}  // namespace rlgo::nets

// The controller of the world model (RLFlow, Parker et al. 2022): it sees [z, h], the latent of the graph and the
// hidden state of the world model's memory, and the counts of legal locations; in a dream and in the real environment
// alike. Where the world model sees locations (ObservationSpec::location_latents), it sees z and each legal location:
// its embedding and its change of cost, in a dream the one that is predicted.
#pragma once

#include <torch/nn/modules/normalization.h>

#include "core/nets/agent.h"

namespace rlgo::nets {

// Reads GraphBatch::latent [B, spec.latent_features], counts and, where there are such, loc_latent alone.
class LatentAgentImpl : public AgentImpl {
 public:
  // Initial weights depend on the seed alone. Throws Error on options out of bounds or a spec without latent features.
  LatentAgentImpl(const mdp::ObservationSpec& spec, const LatentAgentOptions& options, uint64_t seed);

  // `global` is the second hidden layer [B, width], of a linear controller the latent vector; nodes and edges are
  // undefined.
  Encoding encode(const GraphBatch& batch) override;
  // A softmax over rules, then one over the locations of each, which are numbers. With locations: one softmax over all
  // of them and NO-OP, with logits -beta x change of cost in percent plus what is learned, which starts at 0, as that
  // of the model-free agent (actor_critic.h): played greedily before any training it is greedy search.
  LogPolicy policy(const GraphBatch& batch, const Encoding& latent) override;
  // Without locations: computes the location policy of the chosen rules alone; Decisions::entropy stays empty.
  Decisions act(const GraphBatch& batch, std::span<const double> uniforms, bool greedy = false) override;
  // What decides, as one vector: the weights of a linear controller. None where it is not linear.
  std::vector<torch::Tensor> evolving() const;

 private:
  torch::Tensor rule_logits(const GraphBatch& batch, const Encoding& latent);      // [B, X+1], -inf: illegal
  torch::Tensor location_logits(const GraphBatch& batch, const Encoding& latent);  // [L]
  LogPolicy policy_of_places(const GraphBatch& batch, const Encoding& latent);
  bool linear() const { return !input_; }
  bool sees_places() const { return log_beta_.defined(); }
  // [M, max_locations] scores of all locations of rules [M] in graphs [M].
  torch::Tensor location_scores(const Encoding& latent, const torch::Tensor& graph, const torch::Tensor& rule);

  Dense input_{nullptr}, hidden_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  // Of a linear controller these two alone, over the latent vector, and count_weight_:
  Dense rule_score_{nullptr};   // [B, X+1], NO-OP last
  torch::Tensor count_weight_;  // [X] what log(1 + count) of an rule adds to its score
  Dense location_global_{nullptr}, location_score_{nullptr};
  torch::Tensor location_table_;  // [X, width]
  // With locations:
  Dense place_{nullptr}, savings_{nullptr};
  torch::Tensor log_beta_;  // []
};
TORCH_MODULE(LatentAgent);

}  // namespace rlgo::nets

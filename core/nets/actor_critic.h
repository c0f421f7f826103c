// The model-free agent's network (RLFlow, Parker et al. 2022): a graph network under the four heads.
#pragma once

#include <torch/types.h>

#include <string>

#include "core/mdp/mdp.h"
#include "core/nets/agent.h"
#include "core/nets/batch.h"
#include "core/nets/gn.h"

namespace rlgo::nets {

class ActorCriticImpl : public AgentImpl {
 public:
  // Initial weights depend on the seed alone. Throws Error on options out of bounds.
  ActorCriticImpl(const mdp::ObservationSpec& spec, const AgentOptions& options, uint64_t seed);

  const AgentOptions& options() const { return options_; }
  std::optional<EncoderOptions> local_encoder() const override {
    return options_.block == Block::local ? std::optional(options_.encoder()) : std::nullopt;
  }
  // The encoder can be used alone.
  Encoding encode(const GraphBatch& batch) override { return encoder_(batch); }
  Encoder& encoder() { return encoder_; }

 private:
  torch::Tensor rule_logits(const GraphBatch& batch, const Encoding& latent) override;
  torch::Tensor location_logits(const GraphBatch& batch, const Encoding& latent) override;

  AgentOptions options_;
  Encoder encoder_{nullptr};
  // rule policy: hidden layer over [global, rule, mean and max of its locations' nodes, log count], then a score.
  Dense rule_nodes_{nullptr}, rule_pooled_{nullptr}, rule_global_{nullptr}, rule_score_{nullptr};
  Dense noop_hidden_{nullptr}, noop_score_{nullptr};
  torch::Tensor rule_table_;  // [X, width]
  // location policy: hidden layer over [node of the location (pointer), rule, global, log index (pointer)], then a
  // score.
  Dense location_nodes_{nullptr}, location_global_{nullptr}, location_index_{nullptr}, location_score_{nullptr};
  torch::Tensor location_table_;  // [X, width]
};
TORCH_MODULE(ActorCritic);

}  // namespace rlgo::nets

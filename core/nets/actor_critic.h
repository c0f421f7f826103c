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
  // The encoder can be used alone; here its global latent learns besides what the locations would save.
  Encoding encode(const GraphBatch& batch) override;
  Encoder& encoder() { return encoder_; }
  // As AgentOptions::head has it. One softmax over all locations and NO-OP: the logit of a location is beta times what
  // its rewrite saves, plus what is learned about it and about its rule; that of NO-OP is only learned. Staged: the
  // same logits for the locations of a rule; a rule's is beta times the most that one of them saves, plus what is
  // learned about it. What is learned begins at zero. Without location features there are no savings.
  LogPolicy policy(const GraphBatch& batch, const Encoding& latent) override;

 private:
  torch::Tensor rule_scores(const GraphBatch& batch, const Encoding& latent);      // [P], learned
  torch::Tensor location_scores(const GraphBatch& batch, const Encoding& latent);  // [L], learned
  torch::Tensor flat_scores(const GraphBatch& batch, const Encoding& latent);      // [L], learned
  void make_rule_head(Rng& rng);
  void make_location_head(Rng& rng);
  bool flat() const { return options_.head == PolicyHead::flat; }

  AgentOptions options_;
  Encoder encoder_{nullptr};
  torch::Tensor log_beta_;  // []; undefined where locations have no features
  Dense savings_{nullptr};  // what the global latent learns of them
  // rule policy: hidden layer over [global, rule, mean and max of its locations' nodes, log count], then a score.
  Dense rule_nodes_{nullptr}, rule_rest_{nullptr}, rule_pooled_{nullptr}, rule_global_{nullptr}, rule_score_{nullptr};
  Dense noop_hidden_{nullptr}, noop_score_{nullptr};
  torch::Tensor rule_table_;  // [X, width]
  // location policy: hidden layer over [root and mean of the other matched nodes (pointer), rule, global, log index and
  // features of the location (pointer)], then a score.
  Dense location_nodes_{nullptr}, location_rest_{nullptr}, location_global_{nullptr}, location_index_{nullptr},
      location_score_{nullptr};
  torch::Tensor location_table_;  // [X, width]
  // flat: a hidden layer over the global latent, then a score for each rule and location number. Has none of the two
  // policies above.
  Dense flat_hidden_{nullptr}, flat_score_{nullptr};
};
TORCH_MODULE(ActorCritic);

}  // namespace rlgo::nets

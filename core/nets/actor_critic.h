// The model-free agent's network (SPEC.md 1.10): one shared encoder, four heads: policy and value for the xfer, policy
// and value for its location. Used alike by actors (act) and the learner (evaluate), with the same masks.
#pragma once

#include <torch/torch.h>

#include <span>
#include <string>
#include <vector>

#include "core/mdp/mdp.h"
#include "core/nets/batch.h"
#include "core/nets/gn.h"

namespace rlgo::nets {

struct AgentOptions {
  int rounds = 3;
  int width = 64;
  std::string location_head = "pointer";  // "pointer": scores the matched nodes; "index": scores location numbers
  std::string aggregation = "sum";        // see EncoderOptions
  std::string pooling = "mean";
  bool both_directions = true;
  bool shared = false;
  double noop_bias = 0.0;  // initial logit of NO-OP; below 0: longer first episodes
  EncoderOptions encoder() const { return {rounds, width, aggregation, pooling, both_directions, shared}; }
};

// What the agent decided for each of B graphs. Values are in units of reward.
struct Decisions {
  std::vector<mdp::Action> actions;
  std::vector<float> log_prob_xfer, log_prob_location;  // the latter 0 for NO-OP
  std::vector<float> value_xfer, value_location;
  std::vector<float> entropy;  // joint, nats
};

// What the agent thinks of given actions. Differentiable, all [B].
struct Evaluation {
  torch::Tensor log_prob_xfer, log_prob_location;  // the latter 0 for NO-OP
  torch::Tensor entropy_xfer;                      // H(xfer)
  torch::Tensor entropy_location;                  // sum over x of p(x) H(location | x)
  torch::Tensor value_xfer, value_location;        // units of reward
  torch::Tensor log_prob() const { return log_prob_xfer + log_prob_location; }
  torch::Tensor entropy() const { return entropy_xfer + entropy_location; }  // of the joint action, exact
};

// Log-probabilities of every legal action.
struct Policy {
  torch::Tensor xfer;      // [B, X+1], -inf where illegal; NO-OP last, always legal
  torch::Tensor location;  // [L], log pi(location | xfer), grouped as in the batch
};

class ActorCriticImpl : public torch::nn::Module {
 public:
  // Initial weights depend on the seed alone. Throws Error on options out of bounds.
  ActorCriticImpl(const mdp::ObservationSpec& spec, const AgentOptions& options, uint64_t seed);

  const mdp::ObservationSpec& spec() const { return spec_; }
  const AgentOptions& options() const { return options_; }
  torch::Device device() const { return value_scale_.device(); }

  // The latent of each graph; the encoder can be used alone.
  Encoding encode(const GraphBatch& batch) { return encoder_(batch); }

  // Chooses an action for each graph, without gradients. `uniforms` holds 2 numbers in [0,1) per graph (xfer,
  // location): inverse-CDF sampling, so that an episode depends on its own random stream, whatever else is in the
  // batch. Greedy takes the most probable xfer, then its most probable location, and needs no numbers.
  Decisions act(const GraphBatch& batch, std::span<const double> uniforms, bool greedy = false);
  // Throws Error where an action is not legal.
  Evaluation evaluate(const GraphBatch& batch, std::span<const mdp::Action> actions);
  Policy policy(const GraphBatch& batch, const Encoding& latent);

  // Values are scale * head + shift, so that heads learn numbers about 1 whatever the rewards. Changes both and the
  // heads' last layers so that all values stay as they are (PopArt: van Hasselt et al. 2016, equations 8-9).
  void rescale_values(double shift, double scale);
  double value_shift() const { return value_shift_.item<double>(); }
  double value_scale() const { return value_scale_.item<double>(); }

 private:
  torch::Tensor xfer_logits(const GraphBatch& batch, const Encoding& latent);
  torch::Tensor location_logits(const GraphBatch& batch, const Encoding& latent);
  torch::Tensor value_of(Dense& hidden, Dense& out, const torch::Tensor& global, const torch::Tensor& extra);

  mdp::ObservationSpec spec_;
  AgentOptions options_;
  Encoder encoder_{nullptr};
  // xfer policy: hidden layer over [global, xfer, mean and max of its locations' nodes, log count], then a score.
  Dense xfer_nodes_{nullptr}, xfer_pooled_{nullptr}, xfer_global_{nullptr}, xfer_score_{nullptr};
  Dense noop_hidden_{nullptr}, noop_score_{nullptr};
  torch::Tensor xfer_table_;  // [X, width]
  // location policy: hidden layer over [node of the location (pointer), xfer, global, log index (pointer)], then a
  // score.
  Dense location_nodes_{nullptr}, location_global_{nullptr}, location_index_{nullptr}, location_score_{nullptr};
  torch::Tensor location_table_;  // [X, width]
  // values
  Dense value_hidden_{nullptr}, value_out_{nullptr}, location_value_hidden_{nullptr}, location_value_out_{nullptr};
  torch::Tensor location_value_table_;       // [X+1, width]
  torch::Tensor value_shift_, value_scale_;  // [] buffers
};
TORCH_MODULE(ActorCritic);

}  // namespace rlgo::nets

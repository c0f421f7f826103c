// What every agent's network has, whatever it sees: four heads (policy and value for the rule, policy and value for its
// location), masks, sampling, likelihoods, value scaling. Used alike by actors (act) and the learner
// (evaluate), with the same masks.
#pragma once

#include <torch/nn/module.h>

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/agent/choice.h"
#include "core/mdp/mdp.h"
#include "core/nets/batch.h"
#include "core/nets/dense.h"
#include "core/nets/gn.h"

namespace rlgo::nets {

// What the agent decided for each of B graphs. Values are in units of reward.
struct Decisions {
  std::vector<mdp::Action> actions;
  std::vector<float> log_prob_rule, log_prob_location;  // the latter 0 for NO-OP
  std::vector<float> value_rule, value_location;
  std::vector<float> entropy;  // joint, nats; empty where the agent does not work it out
};

// What the agent thinks of given actions. Differentiable, all [B].
struct Evaluation {
  torch::Tensor log_prob_rule, log_prob_location;  // the latter 0 for NO-OP
  torch::Tensor entropy_rule;                      // H(rule)
  torch::Tensor entropy_location;                  // sum over x of p(x) H(location | x)
  torch::Tensor value_rule, value_location;        // units of reward
  torch::Tensor log_prob() const { return log_prob_rule + log_prob_location; }
  torch::Tensor entropy() const { return entropy_rule + entropy_location; }  // of the joint action, exact
};

// One action for each of B graphs, on the network's device. int64.
struct ActionRows {
  torch::Tensor rule;      // [B] the number of rules: NO-OP
  torch::Tensor location;  // [B] which one of its graph's locations of all rules; -1 for NO-OP
};

// Log-probabilities of every legal action.
struct LogPolicy {
  torch::Tensor rule;      // [B, X+1], -inf where illegal; NO-OP last, always legal
  torch::Tensor location;  // [L], log pi(location | rule), grouped as in the batch
  // Where the joint action is one softmax: the logits of locations [L] and of NO-OP [B]; else undefined. What is equal
  // in them is so to the last bit, which log-probabilities are not.
  torch::Tensor score, stop;
};

class AgentImpl : public torch::nn::Module {  // policy and values over an encoder
 public:
  const mdp::ObservationSpec& spec() const { return spec_; }
  torch::Device device() const { return value_scale_.device(); }

  // The encoder's options where it is local: then batches may come with distinct rows (batch.h).
  virtual std::optional<EncoderOptions> local_encoder() const { return {}; }
  // The latent of each graph: `global` [B, width] is what heads and values read.
  virtual Encoding encode(const GraphBatch& batch) = 0;

  // Chooses an action for each graph, without gradients. `uniforms` holds 2 numbers in [0,1) per graph (rule,
  // location): inverse-CDF sampling, so that an episode depends on its own random stream, whatever else is in the
  // batch. Greedy takes the most probable action (where the policy has no scores: the most probable rule, then its most
  // probable location), NO-OP before its equals, else the first of equals, and needs no numbers.
  virtual Decisions act(const GraphBatch& batch, std::span<const double> uniforms, bool greedy = false);
  // Throws Error where an action is not legal.
  Evaluation evaluate(const GraphBatch& batch, std::span<const mdp::Action> actions);
  // The same of actions that are known to be legal; copies nothing between host and device.
  Evaluation evaluate(const GraphBatch& batch, const ActionRows& actions);
  virtual LogPolicy policy(const GraphBatch& batch, const Encoding& latent) = 0;

  // Values are scale * head + shift, so that heads learn numbers about 1 whatever the rewards. Changes both and the
  // heads' last layers so that all values stay as they are (PopArt: van Hasselt et al. 2016, equations 8-9).
  // Returns the scale as the network holds it. Nothing is copied between host and device.
  double rescale_values(double shift, double scale);
  double value_shift() const { return value_shift_.item<double>(); }
  double value_scale() const { return value_scale_.item<double>(); }
  torch::Tensor value_range() const { return torch::stack({value_shift_, value_scale_}); }  // [2] on the device

 protected:
  explicit AgentImpl(const mdp::ObservationSpec& spec) : spec_(spec) {}
  void make_value_heads(int64_t width, Rng& rng);
  torch::Tensor value_of_rule(const torch::Tensor& global);                                 // [B]
  torch::Tensor value_of_location(const torch::Tensor& global, const torch::Tensor& rule);  // [B], of chosen rules

 private:
  torch::Tensor value_of(Dense& hidden, Dense& out, const torch::Tensor& global, const torch::Tensor& extra);

  mdp::ObservationSpec spec_;
  Dense value_hidden_{nullptr}, value_out_{nullptr}, location_value_hidden_{nullptr}, location_value_out_{nullptr};
  torch::Tensor location_value_table_;       // [X+1, width]
  torch::Tensor value_shift_, value_scale_;  // [] buffers
};
using Agent = std::shared_ptr<AgentImpl>;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();  // of masked actions

// For implementations of act().
using agent::most_probable;
using agent::sample_log;
// The most probable action of graph b by LogPolicy::score and stop.
mdp::Action most_probable(const GraphBatch& batch, int64_t b, std::span<const float> score, float stop);
std::vector<float> to_floats(const torch::Tensor& tensor);
// Of several float32 tensors: from a device they come in one copy, for which the host waits once.
std::vector<std::vector<float>> to_floats(const std::vector<torch::Tensor>& tensors);
torch::Tensor to_ints(const std::vector<int64_t>& values, torch::Device device);

}  // namespace rlgo::nets

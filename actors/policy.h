// Who decides: the contract that collectors and evaluation play against.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

struct Decision {
  mdp::Action action;
  float log_prob_rule = 0;      // natural logarithm; of the action under the distribution that it was drawn from
  float log_prob_location = 0;  // given the rule; 0 for NO-OP
  float value_rule = 0;         // expected return, 0 for a policy that does not know
  float value_location = 0;
};

class Policy {  // chooses actions
 public:
  virtual ~Policy() = default;
  // One decision per observation, each legal. rngs[i] is the stream of observation i's episode; a decision draws a
  // fixed number of times from it, so that it does not depend on what else is in the batch.
  virtual std::vector<Decision> act(std::span<const mdp::Observation* const> observations,
                                    std::span<Rng* const> rngs) = 0;
  // value_rule of each observation: bootstraps truncated episodes.
  virtual std::vector<float> value(std::span<const mdp::Observation* const> observations) = 0;
  // Whether value() of several observations at once costs less than one after the other, and rounding may differ.
  virtual bool values_together() const { return false; }
  // Of the weights in use, those that acted last; -1 for a policy without weights.
  virtual int64_t version() const = 0;
  // Replaces the weights. Throws Error where the bytes are not weights of this policy's network.
  virtual void load(std::string_view weights, int64_t version) = 0;

  // Greedy policies take the likeliest action in place of drawing one; the log-probabilities stay those of drawing.
  void set_greedy(bool greedy) { greedy_ = greedy; }
  bool greedy() const { return greedy_; }

 private:
  bool greedy_ = false;
};

// Draws with two numbers in [0, 1) for each observation, of its rule and of its location: a caller that has the numbers
// can have the decision made elsewhere.
class DrawnPolicy : public Policy {
 public:
  std::vector<Decision> act(std::span<const mdp::Observation* const> observations, std::span<Rng* const> rngs) final;
  // uniforms: [2 * observations].
  virtual std::vector<Decision> decide(std::span<const mdp::Observation* const> observations,
                                       std::span<const double> uniforms) = 0;
};

// Uniform over the legal rules (NO-OP among them, where it `stops`, or where nothing else is legal), then uniform over
// the locations of that rule. Has no weights: load() takes anything. Greedy makes no difference.
class RandomPolicy : public Policy {
 public:
  explicit RandomPolicy(bool stops = true) : stops_(stops) {}
  std::vector<Decision> act(std::span<const mdp::Observation* const> observations, std::span<Rng* const> rngs) override;
  std::vector<float> value(std::span<const mdp::Observation* const> observations) override;
  int64_t version() const override { return -1; }
  void load(std::string_view weights, int64_t version) override;

 private:
  bool stops_;
};

}  // namespace rlgo::actors

#include "learner/ppo/options.h"

namespace rlgo::learner {

void declare(OptionSink& o, PpoOptions& ppo) {
  o.heading("PPO");
  o.number("ppo.gamma", ppo.gamma, 0, 1, "discount", true);
  o.number("ppo.lambda", ppo.lambda, 0, 1, "lambda of GAE");
  o.number("ppo.clip", ppo.clip, 0, 1, "clip range of the probability ratio", true);
  o.number("ppo.lr", ppo.learning_rate, 0, 1, "learning rate of Adam", true);
  o.integer("ppo.epochs", ppo.epochs, 1, 1000, "passes over the collected data per update");
  o.integer("ppo.minibatch", ppo.minibatch, 1, 1000000, "transitions in a minibatch");
  o.integer("ppo.segment", ppo.segment, 1, 1000000,
            "successive transitions that are shuffled as one: they share most of their rows");
  o.flag("ppo.distinct-rows", ppo.distinct_rows,
         "with --gnn.block local: rows that are equal in a minibatch are computed once");
  o.number("ppo.entropy", ppo.entropy, 0, 100, "weight of the entropy bonus");
  o.number("ppo.value-weight", ppo.value_weight, 0, 100, "weight of the value loss");
  o.number("ppo.value-clip", ppo.value_clip, 0, 1e6, "clip range of the value's change; 0: off");
  o.number("ppo.max-grad-norm", ppo.max_grad_norm, 0, 1e6, "clip of the gradient's norm; 0: off");
  o.number("ppo.target-kl", ppo.target_kl, 0, 1e6, "approximate KL divergence that ends an update early; 0: off");
  o.flag("ppo.normalize-advantages", ppo.normalize_advantages, "zero mean, unit variance over the collected data");
}

void check(const PpoOptions& options) {
  check_bounds(options);
  PpoOptions copy = options;
  BoundsCheck sink;
  sink.number("adam_epsilon", copy.adam_epsilon, 1e-12, 1, "");
}

}  // namespace rlgo::learner

#include "learner/dream/options.h"

#include <filesystem>

#include "core/base/error.h"

namespace rlgo::learner {

void declare(OptionSink& o, WorldTrainerOptions& trainer) {
  o.integer("wm.passes", trainer.passes, 1, 1000, "passes over the episodes of an update");
  o.integer("wm.batch", trainer.batch, 1, 100000, "episodes side by side in a minibatch");
  o.integer("wm.sequence", trainer.sequence, 1, 100000, "steps of back-propagation through time");
  o.number("wm.lr", trainer.learning_rate, 0, 1, "learning rate at the start", true);
  o.number("wm.lr-end", trainer.learning_rate_end, 0, 1, "learning rate at the end of a polynomial decay of degree 2");
  o.number("wm.max-grad-norm", trainer.max_grad_norm, 0, 1e9, "clip of the gradient's norm; 0: off");
  o.number("wm.holdout", trainer.holdout, 0, 0.5, "fraction of the episodes that are kept for measuring");
  o.number("wm.reward-weight", trainer.reward_weight, 0, 1e6, "weight of the reward loss");
  o.number("wm.terminal-weight", trainer.terminal_weight, 0, 1e6, "weight of the terminal loss");
  o.number(
      "wm.terminal-positive", trainer.terminal_positive_weight, 0, 1e6,
      "weight of a step that ends an episode against one that does not; other than 1 makes dreams end too often or "
      "too rarely",
      true);
  o.number("wm.mask-weight", trainer.present_weight, 0, 1e6, "weight of the loss of which rules apply");
  o.number("wm.count-weight", trainer.count_weight, 0, 1e6, "weight of the loss of their numbers of locations");
}

void check(const WorldTrainerOptions& options) {
  check_bounds(options);
  if (options.learning_rate_end > options.learning_rate)
    fail("--wm.lr-end {} is above --wm.lr {}", options.learning_rate_end, options.learning_rate);
  WorldTrainerOptions copy = options;
  BoundsCheck sink;
  sink.number("variance_weight", copy.variance_weight, 0, 1e6, "");
  sink.number("target_decay", copy.target_decay, 0, 1, "");
}

namespace {

void declare_world(OptionSink& o, DreamAgentOptions& agent) {
  o.heading("World model (agents model-based and hybrid; docs/world-model.md)");
  o.choice("wm.kind", agent.kind, kWorldKinds,
           "what is learned: dreams of whole episodes; or the latency of graphs, which rewriting itself makes exactly, "
           "and only those that promise a gain are timed");
  o.choice("wm.encoder", agent.encoder, kEncoderSources,
           "latents: trained with the world model, taken from a model-free run, fixed at random, or trained by a graph "
           "auto-encoder on the first epoch's play");
  o.text("wm.encoder-from", agent.encoder_from,
         "run folder of the model-free agent whose encoder --wm.encoder ppo takes");
  o.choice("wm.data", agent.data, kWorldData,
           "train on what has just arrived, each episode used once; or also on draws from the rollout store");
  o.text("wm.store", agent.store, "--wm.data store: rollouts of another run; none: this run's own");
  o.integer("wm.store-steps", agent.store_steps, 1, kNoLimit, "--wm.data store: steps drawn per epoch");
  o.number("wm.random-fraction", agent.fraction, 0.01, 0.99,
           "model-based: fraction of the run in which random play trains the world model");
  o.flag("wm.play-noop", agent.play_noop, "random play may draw NO-OP, which ends an episode after few steps");
  o.flag("wm.on-policy", agent.on_policy,
         "model-based: the world model learns from evaluations, too, which are the controller's own episodes");
  declare(o, agent.world);
  declare(o, agent.trainer);
}

void declare_dream(OptionSink& o, DreamAgentOptions& agent) {
  o.heading("Dream");
  o.choice("dream.start", agent.start, kDreamStarts,
           "dreams begin at the unmodified graph, or at states of real episodes");
  o.integer("dream.actors", agent.actors, 0, 100000, "ranks that dream; 0: the learner dreams itself");
  o.integer("dream.steps-per-epoch", agent.steps_per_epoch, 1, kNoLimit, "dreamed steps of an epoch");
  o.integer("dream.length", agent.length, 0, 1000000, "steps after which a dream is cut off; 0: env.max-steps");
  o.number(
      "dream.guard", agent.guard, 0, 1e6,
      "dreams are learned from only while their error on the controller's own episodes is at most so many times the "
      "gain that dream and reality agree on; 0: always");
  declare(o, agent.dream);
  declare(o, agent.controller);
  o.integer("evaluate.every", agent.evaluate_every, 1, kNoLimit,
            "epochs of dreaming between two evaluations in the real environment; hybrid: between two comparisons");
}

void declare_hybrid(OptionSink& o, DreamAgentOptions& agent) {
  o.heading("Hybrid");
  o.number("hybrid.warmup", agent.warmup, 0, 1, "fraction of the run that is played at random, for the world model");
  o.number("hybrid.threshold", agent.threshold, -1, 1,
           "correlation of predicted and real rewards on held-out episodes from which dreams are learned from");
  o.number("hybrid.real-fraction", agent.real_fraction, 0.01, 1,
           "least fraction of real steps in what the controller learns from");
  o.integer("hybrid.length", agent.branch_length, 1, 1000000, "steps of a dream that branches from a real state");
}

}  // namespace

void declare(OptionSink& o, DreamAgentOptions& agent) {
  declare_world(o, agent);
  declare_dream(o, agent);
  declare_hybrid(o, agent);
}

void check(const DreamAgentOptions& agent) {
  check_bounds(agent);
  check(agent.trainer);
  if (agent.encoder == EncoderSource::ppo) {
    if (agent.encoder_from.empty()) fail("--wm.encoder ppo: name the model-free run with --wm.encoder-from RUN");
    if (!std::filesystem::is_directory(std::filesystem::path(agent.encoder_from) / "checkpoints"))
      fail("--wm.encoder-from {}: is no run folder with checkpoints", agent.encoder_from);
  } else if (!agent.encoder_from.empty()) {
    fail("--wm.encoder-from goes with --wm.encoder ppo, not {}", name_of(agent.encoder, kEncoderSources));
  }
  if (agent.controller.controller == nets::Controller::cma_es) {
    if (agent.world.locations)
      fail("--dream.controller cma-es with --wm.locations true: a linear map does not see locations");
    if (agent.actors > 0)
      fail("--dream.controller cma-es with --dream.actors {}: the learner dreams itself", agent.actors);
  }
  if (agent.dream.penalty > 0 && agent.world.ensemble < 2)
    fail("--dream.penalty {}: needs --wm.ensemble of 2 or more", agent.dream.penalty);
  if (!agent.store.empty() && agent.data != WorldData::store) fail("--wm.store goes with --wm.data store");
}

}  // namespace rlgo::learner

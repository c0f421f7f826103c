#include "core/nets/options.h"

#include "core/base/error.h"

namespace rlgo::nets {
namespace {

void declare_encoder(OptionSink& o, int& rounds, int& width) {
  o.integer("gnn.rounds", rounds, 1, 16, "rounds of message passing");
  o.integer("gnn.width", width, 4, 1024, "width of edge, node and global latents");
}

}  // namespace

void declare(OptionSink& o, AgentOptions& agent) {
  o.heading("Agent");
  declare_encoder(o, agent.rounds, agent.width);
  o.choice("gnn.block", agent.block, kBlocks,
           "full: rows read the whole graph's latent too (RLFlow); local: their neighbours only, and equal rows are "
           "computed "
           "once; gcn, gat: graph convolution, graph attention");
  o.choice(
      "policy.head", agent.head, kPolicyHeads,
      "one softmax over all locations; over rules, then over the locations of one (RLFlow); or over a table of rules "
      "x --env.max-locations. A controller in a dream: joint with --wm.locations, else staged");
  o.choice("policy.location-head", agent.location_head, kLocationHeads, "scores matched nodes, or location numbers");
  o.number("policy.noop-bias", agent.noop_bias, -20, 20,
           "logit of NO-OP at the start: 0 is that of a rewrite that changes no cost; below 0 makes the first episodes "
           "longer");
  o.number("policy.beta", agent.beta, 0.001, 10000,
           "what a rewrite's logit gains at the start for each percent of cost that it saves; learned from there");
}

void declare(OptionSink& o, LatentAgentOptions& agent) {
  o.choice("dream.controller", agent.controller, kControllers,
           "two layers that learn by PPO, or a linear map that separable CMA-ES evolves, a generation in each epoch of "
           "dreaming (World Models)");
  o.integer("dream.width", agent.width, 4, 4096, "hidden units of the controller");
  o.number("dream.noop-bias", agent.noop_bias, -20, 20,
           "the controller's logit of NO-OP at the start; --policy.beta is the controller's, too");
}

void declare(OptionSink& o, WorldOptions& world) {
  o.choice("wm.reward-model", world.reward_model, kRewardModels,
           "rewards from the world model's features, or from a network of their own");
  o.integer("wm.hidden", world.hidden, 4, 4096, "units of the LSTM");
  o.integer("wm.mixtures", world.mixtures, 1, 64, "Gaussians per latent dimension");
  o.integer("wm.ensemble", world.ensemble, 1, 16,
            "reward and transition heads whose disagreement --dream.penalty reads");
  o.flag("wm.locations", world.locations,
         "the model sees the location that an action takes and its exact change of cost, and dreams keep a list of "
         "locations that the controller chooses from");
  o.choice("wm.counts", world.counts, kCountModels,
           "numbers of legal locations: log(1 + count) by regression, or their changes in whole numbers");
  o.choice("wm.reward-scale", world.reward_scale, kRewardScales, "scale on which reward errors are squared");
  o.flag("wm.own-trunks", world.own_trunks, "members of the ensemble have layers of their own");
  o.flag("wm.ranges", world.ranges, "keep the ranges seen of latents and rewards, for --dream.clip-latent and -reward");
}

void check(const EncoderOptions& options) {
  BoundsCheck sink;
  EncoderOptions copy = options;
  declare_encoder(sink, copy.rounds, copy.width);
  if (options.block == Block::gat && options.width % kAttentionHeads != 0)
    fail("--gnn.block gat with --gnn.width {}: its {} attention heads share the width; take a multiple of {}",
         options.width, kAttentionHeads, kAttentionHeads);
}

void check(const AgentOptions& options) {
  check_bounds(options);
  check(options.encoder());
  if (options.head == PolicyHead::flat && options.location_head == LocationHead::index)
    fail("--policy.head flat with --policy.location-head index: the table of the flat head scores locations, too");
}

void check(const LatentAgentOptions& options) { check_bounds(options); }

void check(const WorldOptions& options) {
  check(options.encoder);
  check_bounds(options);
  // Not for the command line, but for tests and experiments in code.
  WorldOptions copy = options;
  BoundsCheck sink;
  sink.integer("action_width", copy.action_width, 1, 1024, "");
  sink.integer("location_width", copy.location_width, 1, 1024, "");
  if (options.locations && options.counts != CountModel::change)
    fail("--wm.locations needs --wm.counts change: a list of locations changes by whole numbers");
  sink.number("sigma_floor", copy.sigma_floor, 1e-6, 1, "");
}

}  // namespace rlgo::nets

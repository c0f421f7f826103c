#include "launch/config.h"

#include <limits>

#include "core/base/error.h"

namespace rlgo::launch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void declare_main(Options& o, RunConfig& c) {
  o.heading("Main");
  o.text("graph", c.graph, "what to optimise: a zoo graph's name or the path of an .onnx file");
  o.texts("dim", c.dims, "value for a symbolic dimension of the model, NAME=VALUE; it is fixed in the written model too; may be given several times");
  o.texts("size", c.sizes, "size of at least 2 at which a dimension that stays open is priced and timed, NAME=VALUE; none: made up; may be given several times");
  o.choice("agent", c.agent, {"model-free", "random"}, "who chooses the rewrites");
  o.texts("rules", c.rules, "rule files; may be given several times; none means the proved rules of configs/rules");
  o.choice("cost", c.cost, {"measured", "analytic"}, "prices of operators: timed on this machine, or a roofline formula");
  o.text("target", c.target, "runtime that will serve the model: libtorch, onnxruntime, openvino, or the command of a measurer (docs/measurers.md); measured costs and times are its");
  o.text("target.python", c.target_python, "Python that runs the shipped measurers; none: the one of set-up, else python3");
  o.text("costs", c.costs, "table of measured costs to start from (costs.tsv of an earlier run)");
  o.integer("epochs", c.epochs, 0, kNoLimit, "rounds of collecting and updating");
  o.number("seconds", c.seconds, 0, kInfinity, "end the training after this long, s; 0: no limit");
  o.integer("seed", c.seed, 0, kNoLimit, "names all random streams of the run");
  o.text("name", c.name, "name of the run folder under --runs; none: made from graph, agent and seed");
  o.text("runs", c.runs, "folder of run folders");
  o.text("resume", c.resume, "run folder to continue, with its options");
  o.choice("device", c.device, {"auto", "cpu", "cuda"}, "where networks train and operators are timed; auto takes a GPU where there is one");
  o.text("config", c.config, "file of options, key = value; the command line wins over it");

  o.heading("Zoo graphs");
  o.integer("zoo.batch", c.zoo_batch, 1, 65536, "batch size");
  o.integer("zoo.layers", c.zoo_layers, 0, 1000, "number of layers (bert); 0: the model's own");
  o.integer("zoo.sequence", c.zoo_sequence, 0, 65536, "sequence length (bert); 0: the model's own");
}

void declare_env(Options& o, RunConfig& c) {
  o.heading("Environment");
  o.choice("env.reward", c.env_reward, {"R1", "R2", "R3", "R4"},
           "R1 decrease of cost per step, R2 the same at the end only, R3 with flops, bytes, memory and launches, R4 measured end to end; percent of the initial cost");
  o.integer("env.max-locations", c.env_max_locations, 1, 100000, "matches of one rule that are offered");
  o.integer("env.max-steps", c.env_max_steps, 1, 1000000, "steps after which an episode is cut off (truncated)");
  o.number("env.weight-flops", c.env_weight_flops, 0, 1000, "R3: weight of the relative decrease of flops");
  o.number("env.weight-bytes", c.env_weight_bytes, 0, 1000, "R3: weight of bytes moved");
  o.number("env.weight-peak", c.env_weight_peak, 0, 1000, "R3: weight of peak memory");
  o.number("env.weight-launches", c.env_weight_launches, 0, 1000, "R3: weight of the number of kernels");
}

void declare_agent(Options& o, RunConfig& c) {
  o.heading("Agent");
  o.integer("gnn.rounds", c.gnn_rounds, 1, 20, "rounds of message passing");
  o.integer("gnn.width", c.gnn_width, 8, 1024, "width of edge, node and global latents");
  o.choice("policy.location-head", c.policy_location_head, {"pointer", "index"}, "scores matched nodes, or location numbers");

  o.number("policy.noop-bias", c.policy_noop_bias, -20, 20, "logit of NO-OP at the start; below 0 makes the first episodes longer");

  o.heading("PPO");
  o.number("ppo.gamma", c.ppo_gamma, 0, 1, "discount");
  o.number("ppo.lambda", c.ppo_lambda, 0, 1, "GAE's lambda");
  o.number("ppo.clip", c.ppo_clip, 0, 1, "clip range of the probability ratio", true);
  o.number("ppo.lr", c.ppo_lr, 0, 1, "learning rate of Adam", true);
  o.integer("ppo.epochs", c.ppo_epochs, 1, 100, "passes over the collected data per update");
  o.integer("ppo.minibatch", c.ppo_minibatch, 1, 1000000, "transitions in a minibatch");
  o.number("ppo.entropy", c.ppo_entropy, 0, 10, "weight of the entropy bonus");
  o.number("ppo.value-weight", c.ppo_value_weight, 0, 100, "weight of the value loss");
  o.number("ppo.value-clip", c.ppo_value_clip, 0, 100, "clip range of the value's change; 0: off");
  o.number("ppo.max-grad-norm", c.ppo_max_grad_norm, 0, 1e6, "clip of the gradient's norm", true);
  o.number("ppo.target-kl", c.ppo_target_kl, 0, 100, "approximate KL divergence that ends an update early; 0: off");
  o.flag("ppo.normalize-advantages", c.ppo_normalize_advantages, "zero mean, unit variance over the collected data");
}

void declare_system(Options& o, RunConfig& c) {
  o.heading("Ranks and data");
  o.integer("train.steps-per-epoch", c.steps_per_epoch, 1, 100000000, "environment steps collected per epoch (whole episodes)");
  o.integer("train.envs-per-actor", c.envs_per_actor, 1, 1024, "environments that an actor steps side by side");
  o.integer("train.max-lag", c.max_lag, 0, 1000, "versions that the weights behind a trajectory may be old");
  o.integer("train.min-actors", c.min_actors, 1, 100000, "fewer living actors than this end the run (with a checkpoint)");
  o.number("train.actor-timeout", c.actor_timeout_s, 1, 1e6, "an actor silent for longer is given up, s");
  o.integer("learners", c.learners, 1, 1, "learner ranks");

  o.heading("Measured costs");
  o.integer("cost.warmup", c.cost_warmup, 0, 1000, "runs before timing");
  o.integer("cost.repeats", c.cost_repeats, 1, 10000, "timed samples of an operator; the median counts");
  o.number("cost.min-sample-us", c.cost_min_sample_us, 0, 1e9, "shortest sample: quick operators run several times in one, us");
  o.integer("cost.threads", c.cost_threads, 1, 1024, "threads of an operator while it is timed, and of the end-to-end measurement");
  o.integer("cost.explore", c.cost_explore, 0, 1000000, "steps of random rewriting before the training whose operators are timed while the machine is quiet");

  o.heading("What the run leaves");
  o.flag("store.rollouts", c.store, "keep every real episode in runs/NAME/rollouts");
  o.integer("store.episodes-per-part", c.store_episodes_per_part, 1, 1000000, "episodes in a part of the store");
  o.number("store.seconds-per-part", c.store_seconds_per_part, 0.1, 1e6, "longest time that a part stays open, s");
  o.integer("checkpoint.every", c.checkpoint_every, 1, kNoLimit, "epochs between checkpoints");
  o.integer("checkpoint.keep", c.checkpoint_keep, 1, 1000, "checkpoints kept");
  o.flag("outcome.polish", c.outcome_polish, "afterwards rewrite greedily, from the agent's best graph and from the unmodified one, and take the cheaper");
  o.integer("outcome.repeats", c.outcome_repeats, 3, 10000, "timed end-to-end runs of the model before and after");
  o.integer("outcome.seeds", c.outcome_seeds, 1, 1000, "random inputs of the equivalence check");
  o.number("outcome.tolerance", c.outcome_tolerance, 0, 1, "largest relative error of the equivalence check", true);
}

}  // namespace

void declare(Options& options, RunConfig& config) {
  declare_main(options, config);
  declare_env(options, config);
  declare_agent(options, config);
  declare_system(options, config);
}

void check(const RunConfig& config) {
  if (config.graph.empty()) fail("no graph is given; use --graph NAME (a zoo graph) or --graph model.onnx");
  if (config.target != "libtorch" && config.env_reward == "R4") fail("--env.reward R4 is timed in LibTorch; with --target {} use R1, R2 or R3", config.target);
  if (config.name.find('/') != std::string::npos || config.name == "." || config.name == "..") fail("--name '{}' must be a plain folder name; use --runs for the place", config.name);
}

env::EnvOptions env_options(const RunConfig& config) {
  env::EnvOptions options;
  options.reward = env::reward_from_name(config.env_reward);
  options.max_locations = static_cast<int>(config.env_max_locations);
  options.max_steps = static_cast<int>(config.env_max_steps);
  options.weight_flops = config.env_weight_flops;
  options.weight_bytes = config.env_weight_bytes;
  options.weight_peak = config.env_weight_peak;
  options.weight_launches = config.env_weight_launches;
  return options;
}

}  // namespace rlgo::launch

#include "launch/config.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/base/error.h"

namespace rlgo::launch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void declare_main(Options& o, RunConfig& c) {
  o.heading("Main");
  o.text("graph", c.graph, "what to optimise: a zoo graph's name or the path of an .onnx file");
  o.texts("dim", c.dims,
          "value for a symbolic dimension of the model, NAME=VALUE; it is fixed in the written model too; may be given "
          "several times");
  o.texts("size", c.sizes,
          "size of at least 2 at which a dimension that stays open is priced and timed, NAME=VALUE; none: made up; may "
          "be given several times");
  o.choice("agent", c.agent, {"model-free", "model-based", "hybrid", "random"},
           "who chooses the rewrites: PPO in the real environment, in the dream of a world model, in both; or chance");
  o.texts("rules", c.rules,
          "files, sets, tags or names of rules, separated by commas, -WORD takes away (docs/rules.md); none means the "
          "proved rules of configs/rules");
  o.choice("cost", c.cost, {"measured", "analytic"},
           "prices of operators: timed on this machine, or a roofline formula");
  o.text("cost.profile", c.cost_profile,
         "constants of the formula (--cost analytic): cpu, gpu, another profile of configs/costs, or a file "
         "(docs/costs.md)");
  o.text("target", c.target,
         "runtime that will serve the model: libtorch, onnxruntime, openvino, or the command of a measurer "
         "(docs/measurers.md); measured costs and times are its");
  o.text("target.python", c.target_python,
         "Python that runs the shipped measurers; none: the one of set-up, else python3");
  o.text("costs", c.costs, "table of measured costs to start from (costs.tsv of an earlier run)");
  o.integer("epochs", c.epochs, 0, kNoLimit, "rounds of collecting and updating");
  o.number("seconds", c.seconds, 0, kInfinity, "end the training after this long, s; 0: no limit");
  o.integer("seed", c.seed, 0, kNoLimit, "names all random streams of the run");
  o.text("name", c.name, "name of the run folder under --runs; none: made from graph, agent and seed");
  o.text("runs", c.runs, "folder of run folders");
  o.text("resume", c.resume, "run folder to continue, with its options");
  o.choice("device", c.device, {"auto", "cpu", "cuda"},
           "where networks train and operators are timed; auto takes a GPU where there is one");
  o.text("config", c.config, "file of options, key = value; the command line wins over it");

  o.heading("Zoo graphs");
  o.integer("zoo.batch", c.zoo_batch, 1, 65536, "batch size");
  o.integer("zoo.layers", c.zoo_layers, 0, 1000,
            "number of layers (bert, gpt2, vit_b16), of cells in a stage (nasnet_a); 0: the model's own");
  o.integer("zoo.sequence", c.zoo_sequence, 0, 65536, "tokens (bert, gpt2), steps (nasrnn); 0: the model's own");
  o.integer("zoo.image", c.zoo_image, 0, 4096, "height and width of the input picture; 0: the model's own");
}

void declare_onnx(Options& o, onnx_io::ImportLimits& l) {
  o.heading("ONNX files (docs/limits.md)");
  o.integer("onnx.nodes", l.nodes, 1, kNoLimit, "most operators, those inside local functions counted at each call");
  o.integer("onnx.nesting", l.nesting, 1, 10000, "deepest nesting of subgraphs, types and calls of local functions");
  o.integer("onnx.rank", l.rank, 1, 1024, "most dimensions of a tensor");
  o.integer("onnx.elements", l.elements, 1, kNoLimit, "most elements of a tensor that a file holds or declares");
  o.integer("onnx.attribute-numbers", l.attribute_numbers, 1, kNoLimit, "longest list in an attribute");
  o.integer("onnx.name-bytes", l.name_bytes, 1, kNoLimit, "longest name, bytes");
  o.flag("onnx.isolate", l.isolate, "try a file in a child process first, which may crash or be ended");
  o.number("onnx.seconds", l.seconds, 0, kInfinity, "processor time of that child, s; more for large files", true);
  o.integer("onnx.memory-bytes", l.memory_bytes, 1 << 20, kNoLimit, "its memory, bytes; more for large files");
}

void declare_env(Options& o, RunConfig& c) {
  o.heading("Environment");
  o.choice("env.reward", c.env_reward, {"R1", "R2", "R3", "R4"},
           "R1 decrease of cost per step, R2 the same at the end only, R3 with flops, bytes, memory and launches, R4 "
           "measured end to end; percent of the initial cost");
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
  o.choice("policy.location-head", c.policy_location_head, {"pointer", "index"},
           "scores matched nodes, or location numbers");

  o.number("policy.noop-bias", c.policy_noop_bias, -20, 20,
           "logit of NO-OP at the start; below 0 makes the first episodes longer");

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

void declare_world(Options& o, RunConfig& c) {
  o.heading("World model (agents model-based and hybrid; docs/world-model.md)");
  o.choice("encoder", c.encoder, {"joint", "ppo", "random"},
           "latents: trained with the world model, taken from a model-free run, or fixed at random");
  o.text("encoder-from", c.encoder_from, "run folder of the model-free agent whose encoder --encoder ppo takes");
  o.choice("reward-model", c.reward_model, {"joint", "separate"},
           "rewards from the world model's features, or from a network of their own");
  o.choice("wm-data", c.wm_data, {"online", "store"},
           "train on what has just arrived, each episode used once; or also on draws from the rollout store");
  o.text("wm-store", c.wm_store, "--wm-data store: rollouts of another run; none: this run's own");
  o.number("wm.share", c.wm_share, 0.01, 0.99,
           "model-based: share of the run in which random play trains the world model");
  o.integer("wm.hidden", c.wm_hidden, 4, 4096, "units of the LSTM");
  o.integer("wm.mixtures", c.wm_mixtures, 1, 64, "Gaussians per latent dimension");
  o.integer("wm.ensemble", c.wm_ensemble, 1, 16,
            "reward and transition heads whose disagreement --dream-penalty reads");
  o.integer("wm.passes", c.wm_passes, 1, 1000,
            "passes over the episodes of an update; the specification uses each once");
  o.integer("wm.batch", c.wm_batch, 1, 100000, "episodes side by side in a minibatch");
  o.integer("wm.sequence", c.wm_sequence, 1, 100000, "steps of back-propagation through time");
  o.integer("wm.store-steps", c.wm_store_steps, 1, kNoLimit, "--wm-data store: steps drawn per epoch");
  o.number("wm.lr", c.wm_lr, 0, 1, "learning rate at the start", true);
  o.number("wm.lr-end", c.wm_lr_end, 0, 1, "learning rate at the end of a polynomial decay of degree 2");
  o.number("wm.max-grad-norm", c.wm_max_grad_norm, 0, 1e9, "clip of the gradient's norm; 0: off");
  o.number("wm.holdout", c.wm_holdout, 0, 0.5, "share of episodes that are kept for measuring");
  o.number("wm.reward-weight", c.wm_reward_weight, 0, 1e6, "weight of the reward loss");
  o.number("wm.terminal-weight", c.wm_terminal_weight, 0, 1e6, "weight of the terminal loss");
  o.number("wm.terminal-positive", c.wm_terminal_positive, 0, 1e6,
           "weight of ends against goings-on; other than 1 skews the drawn ends", true);
  o.number("wm.mask-weight", c.wm_mask_weight, 0, 1e6, "weight of the loss of legal xfers");
  o.number("wm.count-weight", c.wm_count_weight, 0, 1e6, "weight of the loss of their numbers of locations");

  o.heading("Dream");
  o.number("temperature", c.temperature, 0, 100, "of the mixtures in dreams; 0: the likeliest future");
  o.choice("dream-start", c.dream_start, {"initial", "replayed"},
           "dreams begin at the unmodified graph, or at states of real episodes");
  o.integer("dream-actors", c.dream_actors, 0, 100000, "ranks that dream; 0: the learner dreams itself");
  o.number("dream-penalty", c.dream_penalty, 0, 1e6,
           "reward that a standard deviation of the ensemble's predictions costs (needs --wm.ensemble of 2 or more); "
           "0: off");
  o.integer("dream.batch", c.dream_batch, 1, 100000, "dreams side by side");
  o.integer("dream.steps-per-epoch", c.dream_steps, 1, kNoLimit, "dreamed steps of an epoch");
  o.integer("dream.length", c.dream_length, 0, 1000000, "steps after which a dream is cut off; 0: env.max-steps");
  o.integer("dream.width", c.dream_width, 4, 4096, "hidden units of the controller");
  o.flag("dream.scale-noise", c.dream_scale_noise, "the temperature's square root scales the noise too");
  o.integer("evaluate.every", c.evaluate_every, 1, kNoLimit,
            "epochs of dreaming between two evaluations in the real environment; hybrid: between two comparisons");

  o.heading("Hybrid");
  o.number("hybrid.warmup", c.hybrid_warmup, 0, 1, "share of the run that is played at random, for the world model");
  o.number("hybrid.threshold", c.hybrid_threshold, -1, 1,
           "correlation of predicted and real rewards on held-out episodes from which dreams are learned from");
  o.number("hybrid.real-share", c.hybrid_real_share, 0.01, 1,
           "least share of real steps in what the controller learns from");
  o.integer("hybrid.length", c.hybrid_length, 1, 1000000, "steps of a dream that branches from a real state");
}

void declare_system(Options& o, RunConfig& c) {
  o.heading("Ranks and data");
  o.integer("train.steps-per-epoch", c.steps_per_epoch, 1, 100000000,
            "environment steps collected per epoch (whole episodes)");
  o.integer("train.envs-per-actor", c.envs_per_actor, 1, 1024, "environments that an actor steps side by side");
  o.integer("train.max-lag", c.max_lag, 0, 1000, "versions that the weights behind a trajectory may be old");
  o.integer("train.min-actors", c.min_actors, 1, 100000,
            "fewer living actors than this end the run (with a checkpoint)");
  o.number("train.actor-timeout", c.actor_timeout_s, 1, 1e6, "an actor silent for longer is given up, s");
  o.flag("train.reproducible", c.reproducible,
         "learn from each actor's episodes in a fixed order, whoever was faster: same seed and ranks, same weights "
         "(with --cost analytic)");
  o.integer("learners", c.learners, 1, 100000, "learner ranks: ranks 0 to LEARNERS-1 train together, the others act");

  o.heading("Measured costs");
  o.integer("cost.warmup", c.cost_warmup, 0, 1000, "runs before timing");
  o.integer("cost.repeats", c.cost_repeats, 1, 10000, "timed samples of an operator; the median counts");
  o.number("cost.min-sample-us", c.cost_min_sample_us, 0, 1e9,
           "shortest sample: quick operators run several times in one, us");
  o.integer("cost.threads", c.cost_threads, 1, 1024,
            "threads of an operator while it is timed, and of the end-to-end measurement");
  o.integer("cost.explore", c.cost_explore, 0, 1000000,
            "steps of random rewriting before the training whose operators are timed while the machine is quiet");

  o.heading("What the run leaves");
  o.flag("store.rollouts", c.store, "keep every real episode in runs/NAME/rollouts");
  o.integer("store.episodes-per-part", c.store_episodes_per_part, 1, 1000000, "episodes in a part of the store");
  o.number("store.seconds-per-part", c.store_seconds_per_part, 0.1, 1e6, "longest time that a part stays open, s");
  o.integer("checkpoint.every", c.checkpoint_every, 1, kNoLimit, "epochs between checkpoints");
  o.integer("checkpoint.keep", c.checkpoint_keep, 1, 1000, "checkpoints kept");
  o.flag("outcome.polish", c.outcome_polish,
         "afterwards rewrite greedily, from the agent's best graph and from the unmodified one, and take the cheaper");
  o.integer("outcome.repeats", c.outcome_repeats, 3, 10000, "timed end-to-end runs of the model before and after");
  o.integer("outcome.seeds", c.outcome_seeds, 1, 1000, "random inputs of the equivalence check");
  o.number("outcome.tolerance", c.outcome_tolerance, 0, 1, "largest relative error of the equivalence check", true);
}

}  // namespace

void declare(Options& options, RunConfig& config) {
  declare_main(options, config);
  declare_onnx(options, config.onnx);
  declare_env(options, config);
  declare_agent(options, config);
  declare_world(options, config);
  declare_system(options, config);
}

bool has_world_model(const RunConfig& config) { return config.agent == "model-based" || config.agent == "hybrid"; }

void check(const RunConfig& config) {
  if (config.graph.empty()) fail("no graph is given; use --graph NAME (a zoo graph) or --graph model.onnx");
  if (config.target != "libtorch" && config.env_reward == "R4")
    fail("--env.reward R4 is timed in LibTorch; with --target {} use R1, R2 or R3", config.target);
  if (config.dream_actors > 0 && !has_world_model(config))
    fail("--dream-actors {}: only the agents model-based and hybrid dream, not {}", config.dream_actors, config.agent);
  if (config.reproducible && config.dream_actors > 0)
    fail("--train.reproducible: ranks that dream (--dream-actors) send what they have whenever it is ready");
  if (config.encoder == "ppo" && config.encoder_from.empty())
    fail("--encoder ppo: name the model-free run with --encoder-from RUN");
  if (config.encoder == "ppo" &&
      !std::filesystem::is_directory(std::filesystem::path(config.encoder_from) / "checkpoints"))
    fail("--encoder-from {}: is no run folder with checkpoints", config.encoder_from);
  if (config.encoder != "ppo" && !config.encoder_from.empty())
    fail("--encoder-from goes with --encoder ppo, not {}", config.encoder);
  if (config.dream_penalty > 0 && config.wm_ensemble < 2)
    fail("--dream-penalty {}: needs --wm.ensemble of 2 or more", config.dream_penalty);
  if (config.wm_lr_end > config.wm_lr) fail("--wm.lr-end {} is above --wm.lr {}", config.wm_lr_end, config.wm_lr);
  if (!config.wm_store.empty() && config.wm_data != "store") fail("--wm-store goes with --wm-data store");
  if (config.learners > 1 && config.agent == "random")
    fail("--learners {}: the random agent does not learn", config.learners);
  if (config.name.find('/') != std::string::npos || config.name == "." || config.name == "..")
    fail("--name '{}' must be a plain folder name; use --runs for the place", config.name);
}

void check_ranks(const RunConfig& config, int ranks) {
  const int64_t learners = config.learners;
  if (learners > 1 && ranks == 1)
    fail("--learners {}: one process learns alone; start more with mpirun -np N (launch/run.sh --np N)", learners);
  if (learners > 1 && learners >= ranks)
    fail("--learners {}: of {} ranks at least one must act; use at most {} learners", learners, ranks, ranks - 1);
  const int64_t actors = std::max<int64_t>(ranks - learners, 1);
  if (config.dream_actors >= actors && config.dream_actors > 0)
    fail("--dream-actors {}: of {} actor ranks at least one must step the real environment", config.dream_actors,
         actors);
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

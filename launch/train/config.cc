#include "launch/train/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/exec/device.h"
#include "launch/target.h"
#include "learner/session/agent_check.h"

namespace rlgo::launch {

void declare_agent(OptionSink& o, RunConfig& c) {
  declare(o, c.env);
  declare(o, c.network);
  declare(o, c.ppo);
  declare(o, c.dream);
  optimise::declare(o, c.learned);
  o.integer("wm.timers", c.timers, 0, 4096,
            "with --wm.kind latency on several ranks: ranks that time graphs, each on a core of its own, while the "
            "others search; 0: one for each 16 ranks, at least one");
  learner::declare(o, c.loop);
  o.integer("train.envs-per-actor", c.envs_per_actor, 1, 1024, "environments that an actor steps side by side");
}

void declare_run(Options& o, RunConfig& c) {
  o.heading("The run");
  o.choice("agent", c.agent, kAgents,
           "what chooses the rewrites: PPO in the real environment, in the dream of a world model, in both; or chance");
  learner::declare_length(o, c.loop);
  o.text("name", c.name, "name of the run folder under --runs; none: made from graph, agent and seed");
  o.text("runs", c.runs, "folder of run folders");
  o.text("resume", c.resume, "run folder to continue, with its options");
  o.text("config", c.config, "file of options, key = value; the command line wins over it");
  o.rest();
  declare_agent(o, c);
  declare(o, c.inference);
  o.flag("train.polish", c.polish,
         "afterwards search further from the agent's best graph and from the unmodified one, and take the cheapest");
  o.number("train.polish-s", c.polish_s, 0, 1e6, "s, at most, for that by `portfolio`; 0: only rewrite greedily");
  declare_details(o, c);
  o.integer("cost.explore", c.cost.explore, 0, 1000000,
            "steps of random rewriting before the training whose operators are timed while the machine is quiet");
  o.heading("What the run leaves");
  o.flag("store.rollouts", c.store_rollouts, "keep every real episode in runs/NAME/rollouts");
  replay::declare(o, c.store);
  learner::declare(o, c.checkpoint);
  optimise::declare(o, c.check);
}

void declare(Options& o, RunConfig& c) {
  declare_problem(o, c);
  declare_run(o, c);
}

Json options_json(RunConfig config) {
  Options options;
  declare(options, config);
  return options.to_json();
}

void check(RunConfig& c) {
  c.model.python = measurer_python(c);
  if (c.model.graph.empty()) fail_usage("no graph is given; use --graph NAME (a zoo graph) or --graph model.onnx");
  if (!exec::is_device_word(c.device)) fail_usage("--device {}: use auto, cpu, cuda or cuda:N", c.device);
  check_target(c.cost.target);
  if (c.learns_latency()) c.env.reward = env::Reward::latency;
  if (c.has_world_model() && optimise::each_model(c.model).size() > 1)
    fail_usage("--graph {}: several graphs go with --agent model-free alone", c.model.graph);
  if (c.env.frontier > 0 && c.has_world_model())
    fail_usage("--env.frontier {}: agents with a world model begin at the unmodified graph; take --agent model-free",
               c.env.frontier);
  if (c.env.window > 0 && c.env.frontier <= 0)
    fail_usage("--env.window {}: episodes in windows are a fraction of all (--env.frontier), which is 0", c.env.window);
  if (c.dream.actors > 0 && !c.has_world_model())
    fail_usage("--dream.actors {}: only the agents model-based and hybrid dream, not {}", c.dream.actors,
               name_of(c.agent, kAgents));
  if (c.loop.reproducible && c.dream.actors > 0)
    fail_usage("--train.reproducible: ranks that dream (--dream.actors) send what they have whenever it is ready");
  if (c.inference.place == actors::Inference::node && (c.agent == Agent::random || c.has_world_model()))
    fail_usage("--inference node: only --agent model-free has a policy that another rank can run, not {}",
               name_of(c.agent, kAgents));
  if (c.loop.learners > 1 && c.agent == Agent::random)
    fail_usage("--learners {}: the random agent does not learn", c.loop.learners);
  if (c.name.find('/') != std::string::npos || c.name == "." || c.name == "..")
    fail_usage("--name '{}' must be a plain folder name; use --runs for the place", c.name);
  as_usage([&] { learner::check_agent(dream_agent_options(c), c.network, c.env, c.has_world_model()); });
}

learner::DreamAgentOptions dream_agent_options(const RunConfig& config) {
  learner::DreamAgentOptions options = config.dream;
  options.hybrid = config.agent == Agent::hybrid;
  options.world.encoder = config.network.encoder();
  // Where locations are seen, embeddings of nodes must depend on their surroundings alone; else only the global latent
  // is read.
  if (options.world.locations || config.network.block == nets::Block::local)
    options.world.encoder.block = options.world.locations ? nets::Block::local : nets::Block::full;
  options.controller.beta = config.network.beta;
  options.trainer.train_encoder = options.encoder == learner::EncoderSource::joint;
  const int length = options.length > 0 ? std::min(options.length, config.env.max_steps) : config.env.max_steps;
  options.dream.max_steps = options.hybrid ? std::min(length, options.branch_length) : length;
  return options;
}

void check_ranks(const RunConfig& config, int ranks) {
  const int learners = config.loop.learners;
  if (config.timers > 0 && !config.learns_latency())
    fail_usage("--wm.timers {}: ranks time graphs for --wm.kind latency alone", config.timers);
  if (config.timers > 0 && config.timers >= ranks)
    fail_usage("--wm.timers {}: rank 0 learns, and {} is all there are; start more with launch/run.sh --np N",
               config.timers, counted(ranks, "rank"));
  if (config.learns_latency() && learners > 1)
    fail_usage("--learners {}: with --wm.kind latency rank 0 alone learns", learners);
  if (learners > 1 && ranks == 1)
    fail_usage("--learners {}: one process learns alone; start more with mpirun -np N (launch/run.sh --np N)",
               learners);
  if (learners > 1 && learners >= ranks)
    fail_usage("--learners {}: of {} ranks at least one must act; use at most {} learners", learners, ranks, ranks - 1);
  const int actors = std::max(ranks - learners, 1);
  if (config.dream.actors >= actors && config.dream.actors > 0)
    fail_usage("--dream.actors {}: of {} actor ranks at least one must step the real environment", config.dream.actors,
               actors);
}

}  // namespace rlgo::launch
